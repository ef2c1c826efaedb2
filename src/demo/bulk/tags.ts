import { tagCountsChanged } from '../../catalogue/games/games.ts';
import { addToCounts } from '../../catalogue/tag-options/tag-options.ts';
import { pairsOf } from '../../catalogue/tags/counts.ts';
import { addToPairs } from '../../catalogue/tags/store.ts';
import type { Bulk } from '../../platform/database/bulk.ts';
import { fold } from '../../platform/database/listing.ts';
import * as store from './store.ts';

export interface TaggedMod {
  readonly id: number;
  readonly shown: boolean;
  readonly popularity: number;
  readonly tags: readonly { readonly id: number; readonly name: string; readonly date_added: number }[];
}

/** Tags the mods of one game in bulk. `finish` writes the counts once all of them are tagged. */
export class TagsInBulk {
  readonly #bulk: Bulk;
  readonly #counts = new Map<number, number>();
  readonly #pairs = new Map<string, number>();

  constructor(bulk: Bulk) {
    this.#bulk = bulk;
  }

  async add(mods: readonly TaggedMod[]): Promise<void> {
    const rows = mods.flatMap(({ id, shown, popularity, tags }) =>
      tags.map((tag) => ({
        mod_id: id,
        tag_id: tag.id,
        name_folded: fold(tag.name),
        date_added: tag.date_added,
        shown: Number(shown),
        popularity,
      })),
    );
    await store.addTags(this.#bulk, rows);
    for (const { shown, tags } of mods) if (shown) this.#count(tags.map(({ id }) => id));
  }

  #count(ids: readonly number[]): void {
    for (const id of ids) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    for (const pair of pairsOf(ids)) this.#pairs.set(pair.join(), (this.#pairs.get(pair.join()) ?? 0) + 1);
  }

  async finish(gameId: number): Promise<void> {
    const { transaction } = this.#bulk;
    for (const [id, count] of this.#counts) await addToCounts(transaction.query, [id], count);
    for (const [pair, count] of this.#pairs) {
      const [one, other] = pair.split(',').map(Number) as [number, number];
      await addToPairs(transaction.query, [[one, other]], count);
    }
    await tagCountsChanged(transaction, gameId);
  }
}
