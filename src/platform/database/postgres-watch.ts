import type { PostgresConnection } from './postgres-connection.ts';

/** A statement without a result for this long makes us ask whether its connection still works. */
const QUIET_MS = 2_000;

/**
 * Finds connections that no longer reach the server. TCP takes 15 minutes to give up on a host that vanished, and a
 * statement may rightly take long, so another connection asks the server which backends are at work.
 */
export class ConnectionWatch {
  readonly #quietMs: number;
  readonly #connections = new Set<PostgresConnection>();
  #suspects = new Set<PostgresConnection>();

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  add(connection: PostgresConnection): void {
    this.#connections.add(connection);
  }

  /** The connections whose oldest statement has been waiting for long, by the backend's process id. */
  quiet(): Map<number, PostgresConnection> {
    const quiet = new Map<number, PostgresConnection>();
    for (const connection of this.#connections)
      if (connection.isBroken) this.#connections.delete(connection);
      else if (connection.quietMs() >= this.#quietMs) quiet.set(connection.backend.pid, connection);
    return quiet;
  }

  /**
   * Takes what the server said about quiet connections: `working` are the backends that execute a statement. Its result
   * may be on the way, so only a connection that is still quiet at the next answer is broken.
   */
  heard(quiet: ReadonlyMap<number, PostgresConnection>, working: readonly number[]): void {
    const idle = [...quiet].filter(([pid, each]) => !working.includes(pid) && each.quietMs() >= this.#quietMs);
    const suspects = new Set(idle.map(([, connection]) => connection));
    for (const each of suspects.intersection(this.#suspects)) each.break('the server no longer knows its statement');
    this.#suspects = suspects;
  }

  /** The server is silent: breaks every connection that it has sent nothing to since then. */
  silent(sinceMs: number): void {
    for (const connection of this.#connections)
      if (connection.heardAt < sinceMs) connection.break('the server is silent');
  }
}
