import { z } from 'zod';
import type { Access, Caller, CallerOf } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Listing, ListRequest } from '../database/listing.ts';
import type { Kind } from '../database/locks.ts';
import type { ApiError, ErrorName } from '../errors/catalogue.ts';
import type { Language } from '../localisation/languages.ts';
import type { Platform, Portal } from '../vocabulary/game-platforms.ts';

/** JSON that is already serialised, such as a stored document. It is sent unchanged. */
export class Json {
  readonly text: string | Buffer;
  /** Its length in bytes, if known: counting the bytes of a freshly concatenated string copies it. */
  readonly bytes: number | undefined;
  /** A number that differs if the text does, if known. */
  readonly checksum: number | undefined;

  constructor(text: string | Buffer, { bytes, checksum }: { bytes?: number; checksum?: number } = {}) {
    this.text = text;
    this.bytes = bytes;
    this.checksum = checksum;
  }
}

/** A completely received upload, stored under a temporary key. */
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
  /** Any number of files, under one name or as a list. */
  readonly many?: boolean;
  /** Any number of files with numbered names: `image1`, `image2`. */
  readonly numbered?: boolean;
  readonly says: string;
}

/** A header that only this operation reads. The resource validates its value. */
export interface HeaderField {
  readonly required?: boolean;
  readonly says: string;
}

/** A body of raw bytes, whatever its Content-Type. Nothing is read before the handler does. */
export interface RawBody {
  /** The Content-Length; a chunked body has none. */
  readonly bytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Everything that a handler can see of a request. */
export interface Input<P, Q, B, C extends Caller = Caller> {
  readonly caller: C;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly files: Readonly<Record<string, Upload | undefined>>;
  /** All files in the order of fields and arrival, including further files of fields that accept several. */
  readonly uploads: readonly Upload[];
  /** The body of an operation that declares `raw`; empty for all others. */
  readonly raw: RawBody;
  /** The declared headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly list: ListRequest;
  /** The language of the response. */
  readonly language: Language;
  /** The language of localisable fields in the body. */
  readonly contentLanguage: Language;
  readonly platform: Platform | undefined;
  readonly portal: Portal | undefined;
  readonly ip: string;
  /** The credentials of `Authorization: Basic …` (RFC 7617). */
  readonly basic: { readonly name: string; readonly password: string } | undefined;
  /** The header `X-Service-Delegation-Token`: the user that a service acts for. */
  readonly delegationToken: string | undefined;
  /** The game in the request's host name, if any. */
  readonly hostGameId: number | undefined;
  /** Caches the response, for callers of the same visibility class, until one of these scopes changes. */
  cache(...scopes: string[]): void;
  /** Limits the caching to this Unix second, because the response contains something that expires. */
  cacheUntil(second: number): void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Fields = z.ZodObject;

export interface Returns<S extends z.ZodType = z.ZodType> {
  readonly status: 200 | 201 | 202 | 204;
  readonly schema: S;
  /** The operation answers 200 when it created nothing. */
  readonly orThere?: true;
  /** Of a stored file. */
  readonly mediaType?: string;
}

export const ok = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 200, schema });
/** The handler returns `Created`, which sets the Location header. */
export const created = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 201, schema });
/** The same, but for something that existed already the handler returns the plain body and the status is 200. */
export const createdOrThere = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 201, schema, orThere: true });
/** The work is done after the response. */
export const accepted = <S extends z.ZodType>(schema: S): Returns<S> => ({ status: 202, schema });
export const noContent: Returns<z.ZodVoid> = { status: 204, schema: z.void() };

/** A 201 response with the address of the created resource. */
export class Created<T> {
  readonly body: T;
  readonly location: string;
  constructor(body: T, location: string) {
    this.body = body;
    this.location = location;
  }
}

/** A stored object and its metadata. */
export interface StoredFile {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly filename: string;
  readonly type: string;
  /** Unix seconds. */
  readonly dateModified: number;
}

/** Responds with a stored file, as a download under its name; with a redirect if the storage serves files itself. */
export class Bytes {
  readonly file: StoredFile;
  /** Called when sending starts at the first byte. */
  readonly begun: () => void;
  constructor(file: StoredFile, begun: () => void = () => {}) {
    this.file = file;
    this.begun = begun;
  }
}

/** A CSV download (RFC 4180). */
export class Csv {
  readonly text: string;
  readonly filename: string;
  constructor(text: string, filename: string) {
    this.text = text;
    this.filename = filename;
  }
}

/** The handler returns `Csv`. */
export const csv = { status: 200, schema: z.instanceof(Csv) } satisfies Returns;

export const isCsv = ({ schema }: Returns): boolean => schema === csv.schema;

const StoredFile = z.instanceof(Bytes);

/** The handler returns `Bytes`. */
export const storedFile = (mediaType: string): Returns<typeof StoredFile> => ({
  status: 200,
  schema: StoredFile,
  mediaType,
});

export const isStoredFile = ({ schema }: Returns): boolean => schema === StoredFile;

/** A response that lasts as long as the client listens. Each part is requested after the previous one was sent. */
export class Stream {
  readonly parts: (signal: AbortSignal) => AsyncIterable<string>;
  constructor(parts: (signal: AbortSignal) => AsyncIterable<string>) {
    this.parts = parts;
  }
}

/** The handler returns `Stream` with the text of Server-Sent Events. */
export const eventStream = { status: 200, schema: z.instanceof(Stream) } satisfies Returns;

export const isEventStream = ({ schema }: Returns): boolean => schema === eventStream.schema;

type Answer<S extends z.ZodType> = z.input<S> | Json | Created<z.input<S> | Json>;

/** An error body in the format of another standard. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
  readonly headers: readonly string[];
}

export interface Deprecated {
  readonly since: string;
  readonly sunset: string;
  /** The id of the operation that replaces it, or what to do instead. */
  readonly instead: string;
}

/** The caller, or a resource that the path names by id. */
export type Lockable = 'caller' | Kind;

/**
 * One API operation, declared once. Router, validation, permissions, rate limits, response schema, OpenAPI document,
 * test client and derived tests all read this object.
 */
export interface Declaration<
  P extends Fields = Fields,
  Q extends Fields = Fields,
  B extends Fields = Fields,
  R extends z.ZodType = z.ZodType,
  A extends Access = Access,
> {
  /** The published name; also names its rate limit. */
  readonly id: string;
  readonly tag: string;
  readonly method: Method;
  readonly path: string;
  /** One sentence for the documentation. */
  readonly says: string;
  readonly access: A;
  /** The operation ends (docs/compatibility.md). Both days are dates such as `2027-01-01`, in UTC. */
  readonly deprecated?: Deprecated;
  /** Requests per minute by one caller to this operation. */
  readonly limit?: number;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The same fields with the game's own limits, used when the default body schema rejects the request. */
  readonly ownBody?: (app: App, caller: Caller, params: z.output<P>) => Promise<B>;
  /** The body may be missing: shipped clients send none when every field is optional. */
  readonly emptyBody?: true;
  /** Accepts JSON besides forms, because shipped clients send it. */
  readonly json?: true;
  /** A form whose fields may not be in the query or appear twice (RFC 6749, sections 2.3.1 and 3.2). */
  readonly strictForm?: true;
  /** Pages of other origins may not read the response, because the request carries a secret. */
  readonly sameOrigin?: true;
  readonly files?: Readonly<Record<string, FileField>>;
  /** The body is raw bytes, at most this many. */
  readonly raw?: { readonly bytesMax: number; readonly says: string };
  /** Headers of this operation, by lower-case name. */
  readonly headers?: Readonly<Record<string, HeaderField>>;
  /** The filters and sorts of a list. */
  readonly list?: Listing;
  /**
   * Each call creates another resource, so an identical request is a double click and is answered 409 with the address
   * of the first result. The handler's transaction sets that address with `transaction.made`.
   */
  readonly once?: true;
  /**
   * The resources that it deletes, transfers or renames: requests that add to them wait and are then rejected. The
   * caller and other resources in the path are locked as parents (`http/operation-locks.ts`).
   */
  readonly ends?: readonly Lockable[];
  /** Further parents: users, or resources that only the body names. */
  readonly under?: readonly Lockable[];
  /** The ids of resources that only the body names. */
  readonly names?: Partial<Record<Kind, (input: Input<z.output<P>, z.output<Q>, z.output<B>>) => readonly number[]>>;
  /** The reason why a writing operation takes no locks, or takes them itself. */
  readonly unlocked?: string;
  /**
   * A game's rules apply to this request: the handler's caller carries the submission, and the resource evaluates the
   * rules.
   */
  readonly rules?: true;
  readonly returns: Returns<R>;
  readonly errors: readonly ErrorName[];
  /** The error format, if it is not the API's own. */
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

// A list of operations mixes parameter types that only each handler knows.
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

/** True when the operation accepts fields or files in a body. */
export function takesBody({ declaration }: AnyOperation): boolean {
  return Boolean(declaration.files) || Object.keys(declaration.body?.shape ?? {}).length > 0;
}

/**
 * Files require multipart. If every file is optional and there are other fields, a URL-encoded form is accepted, too.
 */
export function needsMultipart({ files, body }: AnyOperation['declaration']): boolean {
  if (!files) return false;
  const mayLackFiles = Object.values(files as Record<string, FileField>).every(({ required }) => !required);
  return !(mayLackFiles && Object.keys(body?.shape ?? {}).length > 0);
}
