# docker build -t cqld .
# docker run -p 9042:9042 -v cqld-data:/data cqld

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
 && mkdir -p /image/data /image/tmp && chmod 1777 /image/tmp

FROM scratch
COPY --from=build --chown=65532:65532 /image/ /
USER 65532:65532
ENV CQLD_LISTEN=0.0.0.0:9042 \
    CQLD_DATA=/data
EXPOSE 9042
VOLUME /data
HEALTHCHECK --interval=5s --timeout=5s --start-period=5s CMD ["/cqld", "ping"]
ENTRYPOINT ["/cqld"]
