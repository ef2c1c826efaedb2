import pg from 'pg';

/** The messages of PostgreSQL's protocol, version 3, that executing prepared statements takes. */
const TYPES = { parse: 'P', describe: 'D', bind: 'B', execute: 'E', sync: 'S' } as const;
const PARSE_COMPLETE = 0x31;
const ROW_DESCRIPTION = 0x54;
const DATA_ROW = 0x44;
const COMMAND_COMPLETE = 0x43;
const ERROR_RESPONSE = 0x45;
const NOTICE_RESPONSE = 0x4e;
const READY_FOR_QUERY = 0x5a;

const LENGTH_BYTES = 4;
const HEAD_BYTES = 1 + LENGTH_BYTES;

export type Parameter = string | number | bigint | null;

/** Asks for the results of the statements before it, and makes the server go on after one of them has failed. */
export const SYNC = Buffer.from([TYPES.sync.charCodeAt(0), 0, 0, 0, LENGTH_BYTES]);

/** Executes the prepared statement with this name; with its text it is prepared and described first. */
export function encodeExecution(
  name: string,
  text: string | undefined,
  values: readonly Parameter[],
  isSynced: boolean,
): Buffer {
  const named = Buffer.byteLength(name) + 1;
  const parsed = text === undefined ? 0 : named + Buffer.byteLength(text) + 1 + 2;
  const texts = values.map((value) => (value === null ? null : String(value)));
  const lengths = texts.map((each) => (each === null ? 0 : Buffer.byteLength(each)));
  let bound = 1 + named + 2 + 2 + 2;
  for (const length of lengths) bound += LENGTH_BYTES + length;
  const prepared = text === undefined ? 0 : HEAD_BYTES + parsed + HEAD_BYTES + 1 + named;
  const executed = HEAD_BYTES + 1 + LENGTH_BYTES;
  const bytes = Buffer.allocUnsafe(prepared + HEAD_BYTES + bound + executed + (isSynced ? SYNC.length : 0));
  let at = 0;
  const head = (type: string, length: number) => {
    bytes[at] = type.charCodeAt(0);
    at = bytes.writeInt32BE(LENGTH_BYTES + length, at + 1);
  };
  const string = (each: string) => {
    at += bytes.write(each, at);
    bytes[at] = 0;
    at += 1;
  };
  if (text !== undefined) {
    head(TYPES.parse, parsed);
    string(name);
    string(text);
    at = bytes.writeInt16BE(0, at);
    head(TYPES.describe, 1 + named);
    bytes[at] = 'S'.charCodeAt(0);
    at += 1;
    string(name);
  }
  head(TYPES.bind, bound);
  string('');
  string(name);
  at = bytes.writeInt16BE(0, at);
  at = bytes.writeInt16BE(texts.length, at);
  for (let i = 0; i < texts.length; i += 1) {
    const each = texts[i]!;
    at = bytes.writeInt32BE(each === null ? -1 : lengths[i]!, at);
    if (each !== null) at += bytes.write(each, at);
  }
  at = bytes.writeInt16BE(0, at);
  head(TYPES.execute, 1 + LENGTH_BYTES);
  string('');
  at = bytes.writeInt32BE(0, at);
  if (isSynced) SYNC.copy(bytes, at);
  return bytes;
}

type OnMessage = (type: number, bytes: Buffer, at: number, end: number) => void;

/** Splits a stream of bytes into messages. Only a message that arrives in several chunks is copied. */
export class MessageReader {
  readonly #onMessage: OnMessage;
  /** The beginning of a message whose length is not known yet. */
  #head: Buffer | undefined;
  /** The beginning of a message, and how many bytes of it are missing. */
  #parts: Buffer[] = [];
  #missing = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  read(received: Buffer): void {
    const chunk = this.#head ? Buffer.concat([this.#head, received]) : received;
    this.#head = undefined;
    let at = this.#missing > 0 ? this.#complete(chunk) : 0;
    while (chunk.length - at >= HEAD_BYTES) {
      const end = at + 1 + chunk.readInt32BE(at + 1);
      if (end > chunk.length) {
        this.#parts = [chunk.subarray(at)];
        this.#missing = end - chunk.length;
        return;
      }
      this.#onMessage(chunk[at]!, chunk, at + HEAD_BYTES, end);
      at = end;
    }
    if (at < chunk.length) this.#head = chunk.subarray(at);
  }

  /** Returns how many bytes of the chunk belong to the message that began before it. */
  #complete(chunk: Buffer): number {
    const taken = Math.min(this.#missing, chunk.length);
    this.#parts.push(chunk.subarray(0, taken));
    this.#missing -= taken;
    if (this.#missing === 0) {
      const message = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#onMessage(message[0]!, message, HEAD_BYTES, message.length);
    }
    return taken;
  }
}

type Parse = (bytes: Buffer, at: number, end: number) => unknown;
export interface Field {
  readonly name: string;
  readonly parse: Parse;
  readonly isText: boolean;
}

const INT8 = 20;
const TEXT = 25;
const NUMERIC = 1700;
/** Ids and unix seconds fit a double. Also int2, int4, float4 and float8. */
const NUMBERS: readonly number[] = [INT8, 21, 23, 700, 701, NUMERIC];
const asNumber: Parse = (bytes, at, end) => Number(bytes.toString('latin1', at, end));
const asText: Parse = (bytes, at, end) => bytes.toString('utf8', at, end);
const asBytes: Parse = (bytes, at, end) => bytes.subarray(at, end);

function parserOf(type: number): Parse {
  if (NUMBERS.includes(type)) return asNumber;
  if (type === TEXT) return asText;
  const parse = pg.types.getTypeParser(type, 'text') as (text: string) => unknown;
  return (bytes, at, end) => parse(bytes.toString('utf8', at, end));
}

/** A statement that a connection has been asked to prepare. */
export interface PreparedStatement {
  isPrepared: boolean;
  fields: readonly Field[];
}

/** Collects what the server returns for one execution. */
export class Execution {
  readonly #statement: PreparedStatement;
  readonly #inBytes: boolean;
  /** Whether a sync follows the statement at once. The results of others end with their command. */
  isSynced: boolean;
  readonly rows: Record<string, unknown>[] = [];
  command = '';
  rowCount = 0;
  error: Error | undefined;
  /** The text of a warning; notices of lower severity are ignored. */
  warning: string | undefined;

  constructor(statement: PreparedStatement, inBytes: boolean, isSynced: boolean) {
    this.#statement = statement;
    this.#inBytes = inBytes;
    this.isSynced = isSynced;
  }

  /** Returns true after the last message. */
  received(type: number, bytes: Buffer, at: number, end: number): boolean {
    switch (type) {
      case DATA_ROW:
        this.#row(bytes, at);
        break;
      case COMMAND_COMPLETE:
        this.#completed(bytes.toString('latin1', at, end - 1));
        return !this.isSynced;
      case PARSE_COMPLETE:
        this.#statement.isPrepared = true;
        break;
      case ROW_DESCRIPTION:
        this.#statement.fields = fieldsIn(bytes, at);
        break;
      case ERROR_RESPONSE:
        this.error = errorIn(bytes, at, end);
        return !this.isSynced;
      case NOTICE_RESPONSE:
        this.#noticed(errorIn(bytes, at, end));
        break;
      case READY_FOR_QUERY:
        return true;
    }
    return false;
  }

  #noticed({ severity, message }: pg.DatabaseError): void {
    if (severity === 'WARNING') this.warning = message;
  }

  #row(bytes: Buffer, start: number): void {
    let at = start + 2;
    const row: Record<string, unknown> = {};
    for (const { name, parse, isText } of this.#statement.fields) {
      const length = bytes.readInt32BE(at);
      at += LENGTH_BYTES;
      if (length === -1) row[name] = null;
      else {
        const end = at + length;
        row[name] = this.#inBytes && isText ? asBytes(bytes, at, end) : parse(bytes, at, end);
        at = end;
      }
    }
    this.rows.push(row);
  }

  /** Such as `INSERT 0 1` or `SELECT 5`. */
  #completed(tag: string): void {
    const words = tag.split(' ');
    this.command = words[0]!;
    this.rowCount = Number(words.at(-1)) || 0;
  }
}

const FIELD_TYPE_AT = 6;
const FIELD_BYTES = 18;

function fieldsIn(bytes: Buffer, start: number): Field[] {
  const fields: Field[] = [];
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const end = bytes.indexOf(0, at);
    const type = bytes.readUInt32BE(end + 1 + FIELD_TYPE_AT);
    fields.push({ name: bytes.toString('utf8', at, end), parse: parserOf(type), isText: type === TEXT });
    at = end + 1 + FIELD_BYTES;
  }
  return fields;
}

/** An error like the driver's. */
function errorIn(bytes: Buffer, start: number, end: number): pg.DatabaseError {
  const fields: Record<string, string> = {};
  for (let at = start; at < end && bytes[at] !== 0; ) {
    const close = bytes.indexOf(0, at + 1);
    fields[String.fromCharCode(bytes[at]!)] = bytes.toString('utf8', at + 1, close);
    at = close + 1;
  }
  const { V: severity, C: code, D: detail, H: hint, t: table, c: column, n: constraint } = fields;
  const error = new pg.DatabaseError(fields['M'] ?? '', end - start, 'error');
  return Object.assign(error, { severity, code, detail, hint, table, column, constraint });
}
