import type { Database } from '../database/database.ts';
import { type ListRequest, looksThrough } from '../database/listing.ts';
import { limitedAddress } from './address.ts';
import type { AnyInput } from './input.ts';
import { type AnyOperation, isEventStream, isStoredFile } from './operation.ts';

type Leave = () => void;

interface Holder {
  inside: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets each address have a share of something that all use, such as the connections to the database. Who wants more
 * waits for themselves, and for nobody else. How many can wait is bounded by the connections that an address may hold.
 */
export class Shares {
  readonly #most: number;
  readonly #holders = new Map<string, Holder>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Settles when it is this address's turn. What it gives has to be called at the end. */
  async take(address: string): Promise<Leave> {
    const holder = this.#holders.get(address) ?? { inside: 0, waiting: [] };
    this.#holders.set(address, holder);
    if (holder.inside < this.#most) holder.inside += 1;
    else await new Promise<void>((resolve) => holder.waiting.push(resolve));
    return () => this.#leave(address, holder);
  }

  /** The place goes to the next of the same address, or is given back. */
  #leave(address: string, holder: Holder): void {
    const next = holder.waiting.shift();
    if (next) return void next();
    holder.inside -= 1;
    if (holder.inside === 0) this.#holders.delete(address);
  }
}

const shares = new WeakMap<Database, Shares>();

/** Of what the database can do at once, no address has more than half. */
function sharesOf(db: Database): Shares {
  const known = shares.get(db) ?? new Shares(Math.max(1, Math.floor(db.places / 2)));
  shares.set(db, known);
  return known;
}

/**
 * Whether answering takes one of the database's places. On SQLite only what looks through many rows does. Transfers are
 * as slow as their clients, and signing in as slow as the platforms that are asked: neither holds a place meanwhile.
 */
function takesPlace({ dialect }: Database, { declaration }: AnyOperation, list: ListRequest): boolean {
  const { returns, files, raw, access } = declaration;
  if (files || raw || isStoredFile(returns) || isEventStream(returns) || access.kind === 'authentication') return false;
  return dialect === 'postgres' || (declaration.list !== undefined && looksThrough(declaration.list, list));
}

/** Does the work when it is the turn of whoever asks. */
export function inTurn<T>(
  db: Database,
  operation: AnyOperation,
  { list, ip }: Pick<AnyInput, 'list' | 'ip'>,
  work: () => T | Promise<T>,
): T | Promise<T> {
  return takesPlace(db, operation, list) ? afterWaiting(sharesOf(db), limitedAddress(ip), work) : work();
}

async function afterWaiting<T>(all: Shares, address: string, work: () => T | Promise<T>): Promise<T> {
  const leave = await all.take(address);
  try {
    return await work();
  } finally {
    leave();
  }
}
