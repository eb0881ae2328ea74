source /work/h1/scripts/release/release.sh; source /work/h1/scripts/release/servers.sh
unpack_wheel() { mv $RELEASE/servers/16-$ARCH.x/wheel $1/; }
for t in "16 arm64" "16 amd64"; do for_target $t; server_headers; $PG_CONFIG --version; $PG_CONFIG --includedir-server; done; rm -rf $RELEASE/servers/*.x
