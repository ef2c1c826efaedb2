import type { App } from '../app.ts';
import type { Language } from '../localisation/languages.ts';

/** One open WebSocket as operations see it. */
export interface SocketConnection {
  /** The game of the host name, if any. */
  readonly hostGameId: number | undefined;
  readonly language: Language;
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal;
  send(operation: string, context: object): void;
  /** Sends an operation's error to the client, at any time. */
  fail(operation: string, error: unknown): void;
}

/** An operation that a client can call by a message. */
export interface SocketOperation {
  readonly name: string;
  /** Requests per minute from one address. */
  readonly limit: number;
  readonly says: string;
  /** Handles a message and may send more later; `wait` keeps the connection open meanwhile. */
  handle(
    app: App,
    context: Readonly<Record<string, unknown>>,
    connection: SocketConnection,
    wait: (work: Promise<unknown>) => void,
  ): Promise<object>;
}
