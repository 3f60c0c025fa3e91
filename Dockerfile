# docker build -t cqld .
# docker run -p 9042:9042 -v cqld-data:/data cqld
#
# docker build --target shell -t cqld:shell .   the same with busybox, if a shell is needed inside the container

# The binary is cross-compiled: docker buildx build --platform linux/amd64,linux/arm64 needs no emulation.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /image/cqld . \
 && mkdir -p /image/data /image/tmp /image/docker-entrypoint-initdb.d /image/usr/bin && chmod 1777 /image/tmp \
 && ln -s /cqld /image/usr/bin/cqlsh

FROM busybox:stable-musl AS shell
COPY --from=build --chown=65532:65532 /image/ /
USER 65532:65532
# As in Cassandra's image, CASSANDRA_RPC_ADDRESS is the address for clients; CQLD_LISTEN wins.
ENV CASSANDRA_RPC_ADDRESS=0.0.0.0 \
    CQLD_DATA=/data \
    CQLD_INIT=/docker-entrypoint-initdb.d
EXPOSE 9042
VOLUME /data
HEALTHCHECK --interval=5s --timeout=5s --start-period=5s CMD ["/cqld", "ping"]
ENTRYPOINT ["/cqld"]

FROM scratch
COPY --from=build --chown=65532:65532 /image/ /
USER 65532:65532
ENV PATH=/usr/bin \
    CASSANDRA_RPC_ADDRESS=0.0.0.0 \
    CQLD_DATA=/data \
    CQLD_INIT=/docker-entrypoint-initdb.d
EXPOSE 9042
VOLUME /data
HEALTHCHECK --interval=5s --timeout=5s --start-period=5s CMD ["/cqld", "ping"]
ENTRYPOINT ["/cqld"]
