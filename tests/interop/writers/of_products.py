"""Products that do not run here: payloads with the names that their code writes, through Qdrant's own client."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from common import Job, article, fetch, main
from langchain_text_splitters import RecursiveCharacterTextSplitter
from qdrant_client import models

#: Chunk, number of the chunk, address and title of the page, to the payload.
Payload = Callable[[str, int, str, str], dict]
NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def langchain_js(text: str, number: int, url: str, title: str) -> dict:
    """LangChain.js, n8n and Flowise: @langchain/qdrant, CheerioWebBaseLoader, a splitter that notes lines."""
    return {
        "content": text,
        "metadata": {"source": url, "loc": {"lines": {"from": number * 9 + 1, "to": number * 9 + 9}}},
    }


def spring_ai(text: str, number: int, url: str, title: str) -> dict:
    """Spring AI: metadata beside the text."""
    return {"doc_content": text, "source": url, "title": title, "charset": "UTF-8"}


def langchain4j(text: str, number: int, url: str, title: str) -> dict:
    """LangChain4j: metadata beside the text; the splitter's index is a text."""
    return {"text_segment": text, "url": url, "index": str(number)}


def kernel_memory(text: str, number: int, url: str, title: str) -> dict:
    """Kernel Memory: text and address in JSON text."""
    document = hashlib.md5(url.encode()).hexdigest()
    record = {"url": url, "schema": "20231218A", "file": "content.url", "text": text, "last_update": NOW}
    tags = [f"__document_id:{document}", f"__file_part:{uuid.uuid4().hex}", f"__part_n:{number}", "__sect_n:0"]
    return {"id": f"d={document}//p={uuid.uuid4().hex}", "tags": tags, "payload": json.dumps(record)}


def anything_llm(text: str, number: int, url: str, title: str) -> dict:
    """AnythingLLM: the page's metadata beside the text."""
    return {
        "text": text, "id": str(uuid.uuid5(uuid.NAMESPACE_URL, url)), "url": url, "title": title, "docAuthor": "n/a",
        "description": "n/a", "docSource": "URL link uploaded by the user.", "chunkSource": f"link://{url}",
        "published": NOW, "wordCount": len(text.split()),
    }  # fmt: skip


def open_webui(text: str, number: int, url: str, title: str) -> dict:
    """Open WebUI, with several tenants."""
    knowledge = "3f0f3a6e-5c0a-4ab4-8d3e-7f40c0f8d111"
    return {
        "text": text, "tenant_id": knowledge,
        "metadata": {
            "source": url, "name": title, "created_by": "u1", "file_id": str(uuid.uuid5(uuid.NAMESPACE_URL, url)),
            "hash": hashlib.sha256(url.encode()).hexdigest(), "start_index": number * 450,
            "embedding_config": {"engine": "", "model": "static"},
        },
    }  # fmt: skip


def unstructured(text: str, number: int, url: str, title: str) -> dict:
    """unstructured-ingest: the element as JSON text, and flattened with hyphens."""
    element = {
        "type": "CompositeElement", "element_id": uuid.uuid4().hex,
        "metadata": {"languages": ["eng"], "filetype": "text/html", "url": url, "data_source": {"url": url}},
    }  # fmt: skip
    flat = {
        "type": element["type"], "element_id": element["element_id"], "metadata-languages-0": "eng",
        "metadata-filetype": "text/html", "metadata-url": url, "metadata-data_source-url": url,
    }  # fmt: skip
    return {"text": text, "element_serialized": json.dumps(element), **flat}


def mem0(text: str, number: int, url: str, title: str) -> dict:
    """mem0 without inference: the text is the memory."""
    return {
        "data": text, "hash": hashlib.md5(text.encode()).hexdigest(), "user_id": "docs", "created_at": NOW,
        "source": url,
    }  # fmt: skip


def dify(text: str, number: int, url: str, title: str) -> dict:
    """Dify: the document's name and ids; the address of a crawled page is in Dify's own database."""
    return {
        "page_content": text, "group_id": "dataset-1",
        "metadata": {
            "doc_id": str(uuid.uuid4()), "doc_hash": hashlib.sha256(text.encode()).hexdigest(),
            "document_id": str(uuid.uuid5(uuid.NAMESPACE_URL, url)), "dataset_id": "dataset-1",
        },
    }  # fmt: skip


def _writing(payload: Payload):
    def run(job: Job) -> None:
        size, overlap = {"small": (500, 50), "large": (900, 90)}[job.size]
        splitter, points = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap), []
        for url in job.urls:
            title, text = article(fetch(url))
            parts = splitter.split_text(text)
            points += [
                models.PointStruct(id=str(uuid.uuid4()), vector=vector, payload=payload(part, number, url, title))
                for number, (part, vector) in enumerate(zip(parts, job.embed(parts), strict=True))
            ]
        client = job.client()
        if not client.collection_exists(job.collection):
            space = models.VectorParams(size=256, distance=models.Distance.COSINE)
            client.create_collection(job.collection, vectors_config=space)
        client.upsert(job.collection, points)

    return run


WAYS = (langchain_js, spring_ai, langchain4j, kernel_memory, anything_llm, open_webui, unstructured, mem0, dify)
main({way.__name__: _writing(way) for way in WAYS})
