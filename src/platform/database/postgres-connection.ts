import type { Socket } from 'node:net';
import type pg from 'pg';
import {
  Execution,
  encodeExecution,
  MessageReader,
  type Parameter,
  type PreparedStatement,
  SYNC,
} from './postgres-protocol.ts';

/** Which server process a connection reached. */
export interface Backend {
  readonly pid: number;
  /** When that server started, to the microsecond: after a failover another one does. */
  readonly server: string;
}

export interface Executed {
  readonly command: string;
  readonly rowCount: number;
  readonly rows: unknown[];
  readonly warning: string | undefined;
}

export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

export interface ToExecute {
  /** Without a name the server plans the statement each time. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Text columns arrive as bytes. */
  readonly inBytes?: boolean;
  /**
   * The statement shares a sync with the others of its transaction that are sent in the same event-loop turn. Their results
   * arrive together, and after one has failed the rest are not executed and fail as well.
   */
  readonly isGrouped?: boolean;
}

interface Waiting {
  readonly execution: Execution;
  readonly statement: PreparedStatement;
  readonly name: string;
  readonly since: number;
  resolve(executed: Executed): void;
  reject(error: unknown): void;
}

/**
 * A connection that the driver has opened and authenticated. It sends statements without waiting for earlier results, has
 * each described only once, and can return text as bytes: per statement, it takes a fraction of the driver's CPU time.
 */
export class PostgresConnection {
  readonly #stream: Socket;
  readonly #waiting: Waiting[] = [];
  readonly #prepared = new Map<string, PreparedStatement>();
  readonly backend: Backend;
  /** When the server last sent something, in monotonic milliseconds. */
  heardAt = performance.now();
  /** What is sent at the end of the event-loop turn. */
  #outgoing: Buffer[] = [];
  /** The last statement of the group that is being sent. */
  #group: Execution | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(client: pg.ClientBase, backend: Backend) {
    this.backend = backend;
    this.#stream = socketOf(client);
    const reader = new MessageReader((type, bytes, at, end) => this.#received(type, bytes, at, end));
    // From now on nobody may call `client.query`.
    this.#stream.removeAllListeners('data');
    this.#stream.on('data', (chunk: Buffer) => {
      this.heardAt = performance.now();
      reader.read(chunk);
    });
    client.on('error', (error) => this.#fail(error));
    client.on('end', () => this.#fail(new Error('Connection terminated')));
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** How many statements wait for results. */
  get load(): number {
    return this.#waiting.length;
  }

  execute({ name = '', text, values = [], inBytes = false, isGrouped = false }: ToExecute): Promise<Executed> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.error);
      const known = name === '' ? undefined : this.#prepared.get(name);
      const statement = known ?? { isPrepared: false, fields: [] };
      const bytes = encodeExecution(name, known ? undefined : text, values.map(parameterOf), !isGrouped);
      if (!known && name !== '') this.#prepared.set(name, statement);
      const execution = new Execution(statement, inBytes, !isGrouped);
      if (!isGrouped) this.#endGroup();
      this.#waiting.push({ execution, statement, name, since: performance.now(), resolve, reject });
      this.#send(bytes);
      if (isGrouped) this.#group = execution;
    });
  }

  /** How long statements have been waiting while the server sent nothing. */
  quietMs(): number {
    const [oldest] = this.#waiting;
    return oldest ? performance.now() - Math.max(oldest.since, this.heardAt) : 0;
  }

  /** Closes the connection without waiting for the server. */
  break(reason: string): void {
    this.#fail(new Error(`Connection terminated: ${reason}`));
    this.#stream.destroy();
  }

  /** Statements of one event-loop turn leave in one packet. */
  #send(bytes: Buffer): void {
    if (this.#outgoing.length === 0) process.nextTick(() => this.#flush());
    this.#outgoing.push(bytes);
  }

  #flush(): void {
    this.#endGroup();
    const parts = this.#outgoing;
    this.#outgoing = [];
    if (!this.#failure) this.#stream.write(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  }

  #endGroup(): void {
    if (!this.#group) return;
    this.#group.isSynced = true;
    this.#group = undefined;
    this.#outgoing.push(SYNC);
  }

  #received(type: number, bytes: Buffer, at: number, end: number): void {
    const [current] = this.#waiting;
    // A notice, or a server that shuts down and closes the connection next.
    if (!current?.execution.received(type, bytes, at, end)) return;
    this.#waiting.shift();
    this.#answer(current);
    const { error, isSynced } = current.execution;
    if (error && !isSynced) this.#skip(error);
  }

  /** The server ignores the rest of a group. */
  #skip(error: Error): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      next.execution.error = error;
      // It ends with the answer to the sync.
      if (next.execution.isSynced) return;
      this.#waiting.shift();
      this.#answer(next);
    }
  }

  #answer({ execution, statement, name, resolve, reject }: Waiting): void {
    if (!execution.error) {
      resolve(execution);
      return;
    }
    // A statement that was not parsed is parsed by its next use.
    if (!statement.isPrepared && this.#prepared.get(name) === statement) this.#prepared.delete(name);
    reject(execution.error);
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    for (const { execution, reject } of this.#waiting.splice(0)) reject(execution.error ?? error);
  }
}

function parameterOf(value: unknown): Parameter {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  throw new TypeError(`a parameter of a statement is a text, a number or null, not ${typeof value}`);
}
