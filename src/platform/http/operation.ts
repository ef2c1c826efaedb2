import { z } from 'zod';
import type { Access, Caller, CallerOf } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Listing, ListRequest } from '../database/listing.ts';
import type { Kind } from '../database/locks.ts';
import type { ApiError, ErrorName } from '../errors/catalogue.ts';
import type { Language } from '../localisation/languages.ts';
import type { Platform, Portal } from '../vocabulary/game-platforms.ts';

/** JSON that is already text, or the bytes of one, such as a stored document; it is sent as it is. */
export class Json {
  readonly text: string | Buffer;
  /** Its length as bytes, where that is known: to count them in a text that was just put together copies it. */
  readonly bytes: number | undefined;

  constructor(text: string | Buffer, bytes?: number) {
    this.text = text;
    this.bytes = bytes;
  }
}

/** An upload that has been received whole, in storage under a temporary key. */
export interface Upload {
  readonly field: string;
  readonly filename: string;
  readonly key: string;
  readonly bytes: number;
  readonly md5: string;
  readonly sha256: string;
}

interface FileField {
  readonly bytesMax: number;
  readonly required?: boolean;
  /** Any number of files, under the same name or as a list. */
  readonly many?: boolean;
  /** Any number of files, each with a number behind the name: `image1`, `image2`. */
  readonly numbered?: boolean;
  readonly says: string;
}

/** A header that belongs to the operation itself. Whether it fits is for the noun to say. */
export interface HeaderField {
  readonly required?: boolean;
  readonly says: string;
}

/** A body of plain bytes, whatever its type says. Nothing of it is read before the handler does. */
export interface RawBody {
  /** As the request announces it; a chunked body does not. */
  readonly bytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** What a handler gets to know of a request; nothing else of it is reachable. */
export interface Input<P, Q, B, C extends Caller = Caller> {
  readonly caller: C;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly files: Readonly<Record<string, Upload | undefined>>;
  /** All files, field by field in the order in which they came: also the further ones of fields that take many. */
  readonly uploads: readonly Upload[];
  /** Of an operation that declares `raw`; empty for all others. */
  readonly raw: RawBody;
  /** The declared headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly list: ListRequest;
  /** In which the answer is wished. */
  readonly language: Language;
  /** In which localisable fields of the body are written. */
  readonly contentLanguage: Language;
  readonly platform: Platform | undefined;
  readonly portal: Portal | undefined;
  readonly ip: string;
  /** What `Authorization: Basic …` says (RFC 7617). */
  readonly basic: { readonly name: string; readonly password: string } | undefined;
  /** The header `X-Service-Delegation-Token`: for whom a service acts. */
  readonly delegationToken: string | undefined;
  /** The game in the request's host name, if any. */
  readonly hostGameId: number | undefined;
  /** The answer may be kept, for callers of the same visibility class, until one of these scopes changes. */
  cache(...scopes: string[]): void;
  /** It is kept no longer than until this second: it holds something that changes with time. */
  cacheUntil(second: number): void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Fields = z.ZodObject;

export interface Returns<S extends z.ZodType = z.ZodType> {
  readonly status: 200 | 201 | 202 | 204;
  readonly schema: S;
  /** 200 is answered as well, where nothing had to be made. */
  readonly orThere?: true;
}

export const ok = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 200, schema });
/** The handler answers `Created`, so that Location can be told. */
export const created = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 201, schema });
/** The same, but where it was there already the handler answers it without `Created`, and the status is 200. */
export const createdOrThere = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 201, schema, orThere: true });
/** It will be done, but not before the answer. */
export const accepted = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 202, schema });
export const noContent: Returns<z.ZodVoid> = { status: 204, schema: z.void() };

/** A 201 answer and the address of what was made. */
export class Created<T> {
  readonly body: T;
  readonly location: string;
  constructor(body: T, location: string) {
    this.body = body;
    this.location = location;
  }
}

/** A stored object as it is told of by whoever put it there. */
export interface StoredFile {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly filename: string;
  readonly type: string;
  /** Unix seconds. */
  readonly dateModified: number;
}

/** The answer is a stored file, to be saved under its name. */
export class Bytes {
  readonly file: StoredFile;
  /** Called when the file is being sent from its first byte on. */
  readonly begun: () => void;
  constructor(file: StoredFile, begun: () => void = () => {}) {
    this.file = file;
    this.begun = begun;
  }
}

/** What is asked for is at this address, for now. */
export class Redirect {
  readonly location: string;
  /** Called when the address is given to someone who asks for the first byte. */
  readonly begun: () => void;
  constructor(location: string, begun: () => void = () => {}) {
    this.location = location;
    this.begun = begun;
  }
}

/** A table as text (RFC 4180), to be saved under its name. */
export class Csv {
  readonly text: string;
  readonly filename: string;
  constructor(text: string, filename: string) {
    this.text = text;
    this.filename = filename;
  }
}

/** The handler answers `Csv`. */
export const csv = { status: 200, schema: z.instanceof(Csv) } satisfies Returns;

export const isCsv = ({ schema }: Returns): boolean => schema === csv.schema;

/** The handler answers `Bytes`, or `Redirect` where the storage hands them out itself. */
export const storedFile = {
  status: 200,
  schema: z.union([z.instanceof(Bytes), z.instanceof(Redirect)]),
} satisfies Returns;

export const isStoredFile = ({ schema }: Returns): boolean => schema === storedFile.schema;

/** The answer goes on for as long as someone listens: pieces of text, each asked for once the last was taken. */
export class Stream {
  readonly parts: (signal: AbortSignal) => AsyncIterable<string>;
  constructor(parts: (signal: AbortSignal) => AsyncIterable<string>) {
    this.parts = parts;
  }
}

/** The handler answers `Stream`, whose text is that of Server-Sent Events. */
export const eventStream = { status: 200, schema: z.instanceof(Stream) } satisfies Returns;

export const isEventStream = ({ schema }: Returns): boolean => schema === eventStream.schema;

type Answer<S extends z.ZodType> = z.input<S> | Json | Created<z.input<S> | Json>;

/** An error in a form that another standard prescribes. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
  readonly headers: readonly string[];
}

/** Something that a request names: whoever calls, or what its path names by an id. */
export type Thing = 'caller' | Kind;

/**
 * One operation of the API, declared once. The router, validation, permission checks, rate limits,
 * the answer's shape, the OpenAPI document, the test client and the derived tests all read it.
 */
export interface Declaration<
  P extends Fields = Fields,
  Q extends Fields = Fields,
  B extends Fields = Fields,
  R extends z.ZodType = z.ZodType,
  A extends Access = Access,
> {
  /** The published name, also the name of its own rate limit. */
  readonly id: string;
  readonly tag: string;
  readonly method: Method;
  readonly path: string;
  /** One sentence, which ends in the docs. */
  readonly says: string;
  readonly access: A;
  /** Requests per minute of one caller to this operation alone. */
  readonly limit?: number;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The same fields within the limits that a game has of its own. It is asked for what the body refuses. */
  readonly ownBody?: (app: App, caller: Caller, params: z.output<P>) => Promise<B>;
  /** Nothing need be sent at all: shipped clients leave the body out where every field can be. */
  readonly emptyBody?: true;
  /** Shipped clients send these fields as JSON; forms are taken as well. */
  readonly json?: true;
  /** A plain form, whose fields are neither in the address nor given twice (RFC 6749, sections 2.3.1 and 3.2). */
  readonly strictForm?: true;
  /** Pages of other sites may not read the answer: the request carries a secret, which no page may have. */
  readonly sameOrigin?: true;
  readonly files?: Readonly<Record<string, FileField>>;
  /** The body is not a form but bytes, of which the handler takes at most so many. */
  readonly raw?: { readonly bytesMax: number; readonly says: string };
  /** Headers that only this operation reads, by their names in lower case. */
  readonly headers?: Readonly<Record<string, HeaderField>>;
  /** What a list may be filtered and sorted by. */
  readonly list?: Listing;
  /**
   * Each call makes another thing, so the same request twice is a second tap on a button and is answered 409 with the
   * address of what the first has made. The rule names that by `transaction.made`.
   */
  readonly once?: true;
  /**
   * What it ends, gives away or renames: those who add something under it wait, and are then refused. What its path
   * names otherwise, and the caller, is held as what the operation adds to (`http/holding.ts`).
   */
  readonly ends?: readonly Thing[];
  /** What it adds to besides: people, or what nothing but its body names. */
  readonly under?: readonly Thing[];
  /** The ids of things that nothing but its body names. */
  readonly names?: Partial<Record<Kind, (input: Input<z.output<P>, z.output<Q>, z.output<B>>) => readonly number[]>>;
  /** Why it writes and holds nothing, or holds what it needs by itself. */
  readonly unheld?: string;
  /** Games have rules for what is handed in here; the handler's caller then carries it, and the noun asks them. */
  readonly rules?: true;
  readonly returns: Returns<R>;
  readonly errors: readonly ErrorName[];
  /** How errors are told where it is not in the API's own form. */
  readonly refusal?: { readonly schema: z.ZodType; of(error: ApiError, language: Language): Refusal };
  readonly handle: (
    app: App,
    input: Input<z.output<P>, z.output<Q>, z.output<B>, CallerOf<A>>,
  ) => Answer<R> | Promise<Answer<R>>;
}

export interface Operation<
  P extends Fields = Fields,
  Q extends Fields = Fields,
  B extends Fields = Fields,
  R extends z.ZodType = z.ZodType,
  A extends Access = Access,
> {
  readonly declaration: Declaration<P, Q, B, R, A>;
}

// A list of operations mixes shapes that only each handler knows.
// biome-ignore-start lint/suspicious/noExplicitAny: see above
type AnyDeclaration = Omit<Declaration<any, any, any, any, any>, 'access' | 'handle'> & {
  readonly access: Access;
  readonly handle: (app: App, input: any) => any;
};
// biome-ignore-end lint/suspicious/noExplicitAny: see above

export interface AnyOperation {
  readonly declaration: AnyDeclaration;
}

const Nothing = z.object({});

export function operation<
  R extends z.ZodType,
  P extends Fields = typeof Nothing,
  Q extends Fields = typeof Nothing,
  B extends Fields = typeof Nothing,
  A extends Access = Access,
>(declaration: Declaration<P, Q, B, R, A>): Operation<P, Q, B, R, A> {
  return { declaration };
}

/** Whether the operation takes fields or files in a body. */
export function takesBody({ declaration }: AnyOperation): boolean {
  return Boolean(declaration.files) || Object.keys(declaration.body?.shape ?? {}).length > 0;
}

/** Files come in parts. Where none has to be sent and there are other fields, a plain form will do as well. */
export function needsMultipart({ files, body }: AnyOperation['declaration']): boolean {
  if (!files) return false;
  const mayLackFiles = Object.values(files as Record<string, FileField>).every(({ required }) => !required);
  return !(mayLackFiles && Object.keys(body?.shape ?? {}).length > 0);
}
