# The function's runtime image, for people who have Docker (BuildKit, so Docker 23 or later):
#
#   docker build . --tag=runtime
#   crossplane xpkg build --package-root=package --embed-runtime-image=runtime
#
# `make package` makes an equal image without Docker, and that is the one that is tested. Neither has a base image. The compiler's
# image, which this build starts from, is named by its digest; its tag says only which Go it is. The digest of another version:
# docker buildx imagetools inspect golang:<version>

# Built on the builder's own architecture and compiled for the target's, which is
# much faster than emulating the target.
FROM --platform=${BUILDPLATFORM} golang:1.26.8@sha256:9d2f36f06329b2a141b9db99ffa32765cf695ee57b813ca29e245e8670bcbfff AS build

WORKDIR /fn
ENV CGO_ENABLED=0

# Modules first, so that a change of the code does not download them again.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download

# What the image holds beside the function: root certificates, a folder for temporary files and an unprivileged user.
RUN mkdir -p /image/etc/ssl/certs /image/tmp && chmod 1777 /image/tmp && \
    cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ && \
    echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >/image/etc/passwd && \
    echo 'nonroot:x:65532:' >/image/etc/group

ARG TARGETOS
ARG TARGETARCH
RUN --mount=target=. \
    --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false -ldflags="-s -w" -o /image/function .

# No shell and no package manager: nothing to log in to.
FROM scratch AS image

WORKDIR /
COPY --from=build /image /
# gRPC, and Prometheus metrics.
EXPOSE 9443 8080
USER 65532:65532
ENTRYPOINT ["/function"]
