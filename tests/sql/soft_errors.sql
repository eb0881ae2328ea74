-- A caller that collects errors gets them as values (PostgreSQL 16 and later).
SELECT pg_input_is_valid('(2,5,3):1f03', 'bloom') AS good, pg_input_is_valid('(2,5,3):1f04', 'bloom') AS bad,
       pg_input_is_valid('(2,5,3):1f03', 'bloom(7,43,3)') AS shape;
SELECT * FROM pg_input_error_info('(2,5,3):1f04', 'bloom');
SELECT * FROM pg_input_error_info('(2,9,3):000000', 'bloom');
SELECT * FROM pg_input_error_info('(2,5,3):1f03', 'bloom(7,43,3)');
SELECT pg_input_is_valid('(8):1f', 'minhash_bits') AS good, pg_input_is_valid('(8):1', 'minhash_bits') AS bad, pg_input_is_valid('(8):1f', 'minhash_bits(9)') AS shape,
       pg_input_is_valid('(1):00', 'minhash') AS minima, pg_input_is_valid('2 (8):1f', 'minhash_query') AS query, pg_input_is_valid('3 (8):1f', 'minhash_query') AS threshold;
SELECT * FROM pg_input_error_info('(8):1f', 'minhash_bits(9)');
