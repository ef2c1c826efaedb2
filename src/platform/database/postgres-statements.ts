import type { Statement } from './database.ts';

/** A text that is used this often is worth a plan on every connection. */
const USES_MIN = 5;
const NAMED_TEXTS_MAX = 300;
const COUNTED_TEXTS_MAX = 2_000;

/** Names of prepared statements. A connection parses and plans the text of a name once. */
export class StatementNames {
  #statements = new WeakMap<Statement, string>();
  /** A connection keeps what it has prepared, so an equal statement that was built anew must not get another name. */
  #prepared = new Map<string, string>();
  #texts = new Map<string, string>();
  #uses = new Map<string, number>();
  #count = 0;

  of(statement: Statement): string {
    const known = this.#statements.get(statement);
    if (known) return known;
    const name = this.#prepared.get(statement.postgres) ?? this.#next();
    this.#prepared.set(statement.postgres, name);
    this.#statements.set(statement, name);
    return name;
  }

  /** Texts of the query builder are named once they recur, because lists of values make many that never do. */
  ofText(text: string): string | undefined {
    const known = this.#texts.get(text);
    if (known || this.#texts.size >= NAMED_TEXTS_MAX) return known;
    if (this.#uses.size >= COUNTED_TEXTS_MAX) this.#uses.clear();
    const uses = (this.#uses.get(text) ?? 0) + 1;
    this.#uses.set(text, uses);
    if (uses < USES_MIN) return undefined;
    this.#uses.delete(text);
    const name = this.#next();
    this.#texts.set(text, name);
    return name;
  }

  /** New names make every connection prepare its statements again, after a migration has changed their columns. */
  renew(): void {
    this.#statements = new WeakMap();
    this.#prepared = new Map();
    this.#texts = new Map();
  }

  #next(): string {
    this.#count += 1;
    return `modstead_${this.#count}`;
  }
}
