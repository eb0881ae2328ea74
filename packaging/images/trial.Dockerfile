# An image for a first look: a PostgreSQL with bloom_ident and the register of README.md in it, and psql. Its data are gone when it ends.
# The context has the package of a release as bloom-ident.deb, and trial.sh.
ARG BASE=docker.io/library/debian:trixie-slim
FROM ${BASE}
ARG MAJOR=17
COPY bloom-ident.deb trial.sh register.csv /tmp/
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /tmp/bloom-ident.deb \
    && install -D -m 755 /tmp/trial.sh /usr/local/bin/trial \
    && install -D -m 644 /tmp/register.csv /var/lib/postgresql/docs/data/register.csv \
    && rm -rf /tmp/* /var/lib/apt/lists/*
ENV MAJOR=${MAJOR} LC_ALL=C.UTF-8
USER postgres
WORKDIR /var/lib/postgresql
ENTRYPOINT ["/usr/local/bin/trial"]
