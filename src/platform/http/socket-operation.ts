import type { App } from '../app.ts';
import type { Language } from '../localisation/languages.ts';

/** One open WebSocket, as far as an operation may reach it. */
export interface SocketConnection {
  /** The game in the host name, if any. */
  readonly hostGameId: number | undefined;
  readonly language: Language;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
  send(operation: string, context: object): void;
  /** Tells that an operation failed, whenever that is. */
  fail(operation: string, error: unknown): void;
}

/** What a client may ask for in a message. */
export interface SocketOperation {
  readonly name: string;
  /** Requests per minute from one address. */
  readonly limit: number;
  readonly says: string;
  /** Answers with a context, and may go on to send later. `wait` keeps the connection open while that is awaited. */
  handle(
    app: App,
    context: Readonly<Record<string, unknown>>,
    connection: SocketConnection,
    wait: (work: Promise<unknown>) => void,
  ): Promise<object>;
}
