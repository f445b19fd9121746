# syntax=docker/dockerfile:1

# The function's runtime image, for people who have Docker:
#
#   docker build . --tag=runtime
#   crossplane xpkg build --package-root=package --embed-runtime-image=runtime
#
# `make package` makes an equal image without Docker.

# Built on the builder's own architecture and compiled for the target's, which is
# much faster than emulating the target.
FROM --platform=${BUILDPLATFORM} golang:1.26 AS build

WORKDIR /fn
ENV CGO_ENABLED=0

# Modules first, so that a change of the code does not download them again.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download

ARG TARGETOS
ARG TARGETARCH
RUN --mount=target=. \
    --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false -ldflags="-s -w" -o /function .

# Root certificates, time zones and an unprivileged user: nothing to log in to.
FROM gcr.io/distroless/static-debian12:nonroot AS image

WORKDIR /
COPY --from=build /function /function
# gRPC, and Prometheus metrics.
EXPOSE 9443 8080
USER nonroot:nonroot
ENTRYPOINT ["/function"]
