# An image with the files of bloom_ident and nothing else, which CloudNativePG mounts beside its own image of PostgreSQL 18 (ImageVolume).
# The context is an unpacked archive of a release, for the processor of the image; scripts/release/images.sh makes it.
FROM scratch
ARG VERSION
ARG MAJOR
LABEL org.opencontainers.image.title="bloom_ident" \
      org.opencontainers.image.description="bloom_ident for PostgreSQL ${MAJOR}, as an extension image of CloudNativePG" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="PostgreSQL" \
      io.cloudnativepg.image.base.pgmajor="${MAJOR}" \
      io.cloudnativepg.image.sql.version="${VERSION}"
COPY lib/ /lib/
COPY share/ /share/
COPY LICENSE THIRD-PARTY.txt /licenses/
USER 65532:65532
