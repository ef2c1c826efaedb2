import type { Storage } from './storage.ts';

/** An object that a row names. */
export interface NamedObject {
  readonly key: string;
  /** Whose it is, for an operator to read. */
  readonly owner: string;
  /** What the row says of it, where it does. */
  readonly bytes?: number;
  readonly sha256?: string;
}

/** What a noun keeps in storage: every key below the prefix is named by one of its rows, or is left over. */
export interface Holdings<A> {
  readonly prefix: string;
  named(app: A): AsyncIterable<NamedObject>;
  /** As of now, also where the row came after `named` had passed its place. */
  isNamed(app: A, key: string): Promise<boolean>;
  /** Sees to a row of which the object is gone or damaged; false where only people can. */
  loses(app: A, object: NamedObject): Promise<boolean>;
  /** Has an object removed that no row names, unless one does by then. */
  releases(app: A, key: string): Promise<void>;
}

export type Trouble = 'missing' | 'damaged' | 'left over' | 'unknown';

export interface Found {
  readonly trouble: Trouble;
  readonly key: string;
  readonly owner?: string;
  readonly repaired: boolean;
}

export interface InventoryOptions {
  readonly repair: boolean;
  /** Reads every object whose hash is known, and compares. */
  readonly verify: boolean;
  readonly progress?: (looked: number) => void;
}

export interface Inventory {
  /** Rows and objects that were looked at. */
  readonly looked: number;
  readonly found: readonly Found[];
}

/** Keys of what is under way, which jobs remove by themselves. */
const PASSING = 'incoming/';
const AT_ONCE = 8;

/**
 * Holds rows and stored objects against each other, while others go on with both: whatever looks wrong is asked for a
 * second time, as it may have come or gone in between.
 */
export async function takeInventory<A extends { readonly storage: Storage }>(
  app: A,
  holdings: readonly Holdings<A>[],
  { repair, verify, progress }: InventoryOptions,
): Promise<Inventory> {
  const found: Found[] = [];
  let looked = 0;
  const note = () => progress?.(++looked);

  async function lookAtRow(holding: Holdings<A>, object: NamedObject): Promise<void> {
    const trouble = await troubleOf(app.storage, object, verify);
    if (trouble && (await holding.isNamed(app, object.key))) {
      const repaired = repair && (await holding.loses(app, object));
      found.push({ trouble, key: object.key, owner: object.owner, repaired });
    }
    note();
  }

  async function lookAtKey(key: string): Promise<void> {
    const holding = holdings.find(({ prefix }) => key.startsWith(prefix));
    if (holding && !(await holding.isNamed(app, key)) && (await app.storage.stat(key))) {
      if (repair) await holding.releases(app, key);
      found.push({ trouble: 'left over', key, repaired: repair });
    }
    if (!holding && !key.startsWith(PASSING)) found.push({ trouble: 'unknown', key, repaired: false });
    note();
  }

  for (const holding of holdings) await severalOf(holding.named(app), AT_ONCE, (object) => lookAtRow(holding, object));
  await severalOf(app.storage.list(''), AT_ONCE, lookAtKey);
  return { looked, found };
}

async function troubleOf(storage: Storage, object: NamedObject, verify: boolean): Promise<Trouble | undefined> {
  const stored = await storage.stat(object.key);
  if (!stored) return 'missing';
  if (object.bytes !== undefined && stored.bytes !== object.bytes) return 'damaged';
  if (!verify || object.sha256 === undefined) return undefined;
  const opened = await storage.read(object.key);
  if (!opened) return 'missing';
  try {
    return (await opened.digest()) === object.sha256 ? undefined : 'damaged';
  } finally {
    await opened.close();
  }
}

/** Works on so many at once, in the order in which they come. */
async function severalOf<T>(all: AsyncIterable<T>, count: number, work: (one: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const one of all) {
    const task = work(one).finally(() => running.delete(task));
    running.add(task);
    if (running.size >= count) await Promise.race(running);
  }
  await Promise.all(running);
}
