# docker build -t ragval . && docker run --rm ragval        runs the demo
# docker run --rm -v "$PWD:/work" --user "$(id -u)" -e QDRANT_URL ragval run   validates with the suite in this folder
# The digest is that of python:3.12-slim for all platforms; renew it with: docker buildx imagetools inspect python:3.12-slim
ARG PYTHON_IMAGE=python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${PYTHON_IMAGE}
WORKDIR /opt/ragval
# What it depends on changes seldom, and is a layer of its own.
COPY requirements-core.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-core.lock
COPY pyproject.toml README.md LICENSE ./
COPY ragval_pipeline ragval_pipeline
RUN pip install --no-cache-dir --no-deps . && useradd --create-home --uid 1000 ragval && install -d -o ragval /work
# A user of the host, named by --user, has no home here.
ENV HOME=/tmp
USER ragval
WORKDIR /work
ENTRYPOINT ["ragval"]
CMD ["demo"]
