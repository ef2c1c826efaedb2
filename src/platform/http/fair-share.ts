import type { Database } from '../database/database.ts';
import { type ListRequest, mayScan } from '../database/listing.ts';
import { limitedAddress } from './address.ts';
import type { AnyInput } from './input.ts';
import { type AnyOperation, isEventStream, isStoredFile } from './operation.ts';

type Release = () => void;

interface Client {
  active: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits how much of a shared resource, such as database connections, one address uses at once. An address beyond its
 * share waits only for its own requests; the connection limit bounds the queue.
 */
export class FairShare {
  readonly #max: number;
  readonly #clients = new Map<string, Client>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when the address may proceed. The caller must call the result when done. */
  async acquire(address: string): Promise<Release> {
    const client = this.#clients.get(address) ?? { active: 0, waiting: [] };
    this.#clients.set(address, client);
    if (client.active < this.#max) client.active += 1;
    else await new Promise<void>((resolve) => client.waiting.push(resolve));
    return () => this.#release(address, client);
  }

  /** Hands the slot to the address's next request, or frees it. */
  #release(address: string, client: Client): void {
    const next = client.waiting.shift();
    if (next) return void next();
    client.active -= 1;
    if (client.active === 0) this.#clients.delete(address);
  }
}

const shares = new WeakMap<Database, FairShare>();

/** One address gets at most half of the database's concurrency. */
function fairShareOf(db: Database): FairShare {
  const known = shares.get(db) ?? new FairShare(Math.max(1, Math.floor(db.readConcurrency / 2)));
  shares.set(db, known);
  return known;
}

/**
 * True when the operation occupies a database connection for long; on SQLite only scans do. Transfers last as long as
 * their clients and sign-ins as long as external platforms, so neither may hold a slot.
 */
function usesConnection({ dialect }: Database, { declaration }: AnyOperation, list: ListRequest): boolean {
  const { returns, files, raw, access } = declaration;
  if (files || raw || isStoredFile(returns) || isEventStream(returns) || access.kind === 'authentication') return false;
  return dialect === 'postgres' || (declaration.list !== undefined && mayScan(declaration.list, list));
}

/** Runs the work once the address is within its share. */
export function withFairShare<T>(
  db: Database,
  operation: AnyOperation,
  { list, ip }: Pick<AnyInput, 'list' | 'ip'>,
  work: () => T | Promise<T>,
): T | Promise<T> {
  return usesConnection(db, operation, list) ? afterAcquiring(fairShareOf(db), limitedAddress(ip), work) : work();
}

async function afterAcquiring<T>(all: FairShare, address: string, work: () => T | Promise<T>): Promise<T> {
  const release = await all.acquire(address);
  try {
    return await work();
  } finally {
    release();
  }
}
