# docker build -t ragval . && docker run --rm ragval        runs the demo
# docker run --rm -v "$PWD:/work" --user "$(id -u)" -e QDRANT_URL ragval run   validates with the suite in this folder
# For a build that can be repeated, pin the image: --build-arg PYTHON_IMAGE=python:3.12-slim@sha256:...
ARG PYTHON_IMAGE=python:3.12-slim
FROM ${PYTHON_IMAGE}
WORKDIR /opt/ragval
COPY pyproject.toml README.md LICENSE ./
COPY ragval_pipeline ragval_pipeline
RUN pip install --no-cache-dir . && useradd --create-home --uid 1000 ragval && install -d -o ragval /work
# A user of the host, named by --user, has no home here.
ENV HOME=/tmp
USER ragval
WORKDIR /work
ENTRYPOINT ["ragval"]
CMD ["demo"]
