import type { Storage } from './storage.ts';

/** An object that a row references. */
export interface ReferencedObject {
  readonly key: string;
  /** The owner's description, for operators. */
  readonly owner: string;
  /** As stored in the row, if known. */
  readonly bytes?: number;
  readonly sha256?: string;
}

/**
 * The stored objects of a resource. Every key below the prefix is either referenced by one of its rows or left over.
 */
export interface StoredObjects<A> {
  readonly prefix: string;
  referenced(app: A): AsyncIterable<ReferencedObject>;
  /** Reads the current state, so that it also finds rows that were added while `referenced` ran. */
  isReferenced(app: A, key: string): Promise<boolean>;
  /** Repairs a row whose object is missing or damaged; returns false if only its owner can. */
  repairRow(app: A, object: ReferencedObject): Promise<boolean>;
  /** Removes an object that no row references, after checking that once more. */
  removeLeftOver(app: A, key: string): Promise<void>;
}

type Trouble = 'missing' | 'damaged' | 'left over' | 'unknown';

export interface Found {
  readonly trouble: Trouble;
  readonly key: string;
  readonly owner?: string;
  readonly repaired: boolean;
}

export interface InventoryOptions {
  readonly repair: boolean;
  /** Reads every object with a known hash, and compares. */
  readonly verify: boolean;
  readonly progress?: (looked: number) => void;
}

export interface Inventory {
  /** The number of rows and objects that were checked. */
  readonly looked: number;
  readonly found: readonly Found[];
}

/** Uploads in progress, which jobs remove. */
const IN_PROGRESS = 'incoming/';
const AT_ONCE = 8;

/** Compares rows with stored objects while both change: a suspected problem is checked a second time. */
export async function takeInventory<A extends { readonly storage: Storage }>(
  app: A,
  resources: readonly StoredObjects<A>[],
  { repair, verify, progress }: InventoryOptions,
): Promise<Inventory> {
  const found: Found[] = [];
  let looked = 0;
  const note = () => progress?.(++looked);

  async function lookAtRow(objects: StoredObjects<A>, object: ReferencedObject): Promise<void> {
    const trouble = await troubleOf(app.storage, object, verify);
    if (trouble && (await objects.isReferenced(app, object.key))) {
      const repaired = repair && (await objects.repairRow(app, object));
      found.push({ trouble, key: object.key, owner: object.owner, repaired });
    }
    note();
  }

  async function lookAtKey(key: string): Promise<void> {
    const objects = resources.find(({ prefix }) => key.startsWith(prefix));
    if (objects && !(await objects.isReferenced(app, key)) && (await app.storage.stat(key))) {
      if (repair) await objects.removeLeftOver(app, key);
      found.push({ trouble: 'left over', key, repaired: repair });
    }
    if (!objects && !key.startsWith(IN_PROGRESS)) found.push({ trouble: 'unknown', key, repaired: false });
    note();
  }

  for (const objects of resources)
    await severalOf(objects.referenced(app), AT_ONCE, (object) => lookAtRow(objects, object));
  await severalOf(app.storage.list(''), AT_ONCE, lookAtKey);
  return { looked, found };
}

async function troubleOf(storage: Storage, object: ReferencedObject, verify: boolean): Promise<Trouble | undefined> {
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

/** Runs at most `count` tasks at once, in the order of the list. */
async function severalOf<T>(all: AsyncIterable<T>, count: number, work: (one: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const one of all) {
    const task = work(one).finally(() => running.delete(task));
    running.add(task);
    if (running.size >= count) await Promise.race(running);
  }
  await Promise.all(running);
}
