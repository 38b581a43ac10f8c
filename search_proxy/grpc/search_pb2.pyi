import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Filter(_message.Message):
    __slots__ = ("author", "tags", "created_after", "created_before", "scope", "brand", "price_min", "price_max", "fields", "filter_text")
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Values
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Values, _Mapping]] = ...) -> None: ...
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    BRAND_FIELD_NUMBER: _ClassVar[int]
    PRICE_MIN_FIELD_NUMBER: _ClassVar[int]
    PRICE_MAX_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    FILTER_TEXT_FIELD_NUMBER: _ClassVar[int]
    author: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    created_after: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    scope: _containers.RepeatedScalarFieldContainer[str]
    brand: _containers.RepeatedScalarFieldContainer[str]
    price_min: float
    price_max: float
    fields: _containers.MessageMap[str, Values]
    filter_text: str
    def __init__(self, author: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., created_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Iterable[str]] = ..., brand: _Optional[_Iterable[str]] = ..., price_min: _Optional[float] = ..., price_max: _Optional[float] = ..., fields: _Optional[_Mapping[str, Values]] = ..., filter_text: _Optional[str] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ("any_of",)
    ANY_OF_FIELD_NUMBER: _ClassVar[int]
    any_of: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, any_of: _Optional[_Iterable[str]] = ...) -> None: ...

class KeywordSearchRequest(_message.Message):
    __slots__ = ("query", "filter", "limit")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    query: str
    filter: Filter
    limit: int
    def __init__(self, query: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class SemanticSearchRequest(_message.Message):
    __slots__ = ("query", "filter", "limit", "min_score", "expand")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    EXPAND_FIELD_NUMBER: _ClassVar[int]
    query: str
    filter: Filter
    limit: int
    min_score: float
    expand: bool
    def __init__(self, query: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ..., expand: _Optional[bool] = ...) -> None: ...

class FusedSearchRequest(_message.Message):
    __slots__ = ("query", "filter", "limit")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    query: str
    filter: Filter
    limit: int
    def __init__(self, query: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class FilterRequest(_message.Message):
    __slots__ = ("filter", "limit", "order_by")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    filter: Filter
    limit: int
    order_by: str
    def __init__(self, filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ..., order_by: _Optional[str] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("document_id",)
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    def __init__(self, document_id: _Optional[str] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits", "total", "note")
    HITS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    total: int
    note: str
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., total: _Optional[int] = ..., note: _Optional[str] = ...) -> None: ...

class SearchHit(_message.Message):
    __slots__ = ("document_id", "title", "snippet", "score", "author", "created_time", "score_kind", "price", "currency", "fields")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_TIME_FIELD_NUMBER: _ClassVar[int]
    SCORE_KIND_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    title: str
    snippet: str
    score: float
    author: str
    created_time: _timestamp_pb2.Timestamp
    score_kind: str
    price: float
    currency: str
    fields: _struct_pb2.Struct
    def __init__(self, document_id: _Optional[str] = ..., title: _Optional[str] = ..., snippet: _Optional[str] = ..., score: _Optional[float] = ..., author: _Optional[str] = ..., created_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., score_kind: _Optional[str] = ..., price: _Optional[float] = ..., currency: _Optional[str] = ..., fields: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "title", "body", "created_time", "fields", "truncated")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    CREATED_TIME_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    title: str
    body: str
    created_time: _timestamp_pb2.Timestamp
    fields: _struct_pb2.Struct
    truncated: bool
    def __init__(self, document_id: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., created_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., fields: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., truncated: _Optional[bool] = ...) -> None: ...
