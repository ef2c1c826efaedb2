export const SLOT_MS = 5_000;

/** A minute that begins within a slot overlaps thirteen slots; counting all of them is on the strict side. */
export const WINDOW_SLOTS = 13;

/** The number of tokens taken in each recent slot. Sparse, because most buckets use one or two slots. */
export class Window {
  /** Slot, count, slot, count …, unordered. */
  readonly pairs: number[];

  constructor(pairs: number[] = []) {
    this.pairs = pairs;
  }

  /**
   * The number of tokens that count at `slot`. Slots far ahead are from before a clock correction and are dropped, too.
   */
  taken(slot: number): number {
    let sum = 0;
    let kept = 0;
    for (let index = 0; index < this.pairs.length; index += 2) {
      const at = this.pairs[index]!;
      const count = this.pairs[index + 1]!;
      if (count <= 0 || Math.abs(at - slot) >= WINDOW_SLOTS) continue;
      sum += count;
      this.pairs[kept] = at;
      this.pairs[kept + 1] = count;
      kept += 2;
    }
    this.pairs.length = kept;
    return sum;
  }

  add(slot: number, count: number): void {
    const index = this.#find(slot);
    if (index >= 0) this.pairs[index + 1]! += count;
    else this.pairs.push(slot, count);
  }

  returnTokens(slot: number, count: number): void {
    const index = this.#find(slot);
    if (index >= 0) this.pairs[index + 1] = Math.max(0, this.pairs[index + 1]! - count);
  }

  /** The first slot with fewer than `limit` tokens if no more are taken. */
  freesAt(slot: number, limit: number): number {
    let taken = this.taken(slot);
    for (const at of this.#slots()) {
      taken -= this.pairs[this.#find(at) + 1]!;
      if (taken < limit) return at + WINDOW_SLOTS;
    }
    return slot + WINDOW_SLOTS;
  }

  #slots(): number[] {
    return this.pairs.filter((_, index) => index % 2 === 0).sort((a, b) => a - b);
  }

  #find(slot: number): number {
    for (let index = 0; index < this.pairs.length; index += 2) if (this.pairs[index] === slot) return index;
    return -1;
  }
}
