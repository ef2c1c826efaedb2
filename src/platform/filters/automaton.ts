interface State {
  readonly next: Map<number, State>;
  fail: State | undefined;
  /** The indexes of the patterns that end at this state. */
  found: number[];
}

const unitsOf = (text: string) => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));

const newState = (): State => ({ next: new Map(), fail: undefined, found: [] });

/** Finds any number of patterns in one pass over a text (Aho and Corasick, 1975). */
export class Automaton {
  readonly #root = newState();

  constructor(patterns: readonly string[]) {
    patterns.forEach((pattern, number) => {
      this.#add(pattern, number);
    });
    this.#link();
  }

  #add(pattern: string, number: number): void {
    let state = this.#root;
    for (const unit of unitsOf(pattern)) {
      const next = state.next.get(unit) ?? newState();
      state.next.set(unit, next);
      state = next;
    }
    state.found.push(number);
  }

  /** Breadth-first, so that the fallback of a state is complete before it is needed. */
  #link(): void {
    const queue = [...this.#root.next.values()];
    for (const state of queue) state.fail = this.#root;
    for (const state of queue) {
      for (const [unit, next] of state.next) {
        next.fail = this.#step(state.fail!, unit);
        next.found = [...next.found, ...next.fail.found];
        queue.push(next);
      }
    }
  }

  #step(from: State, unit: number): State {
    let state: State | undefined = from;
    while (state && !state.next.has(unit)) state = state.fail;
    return state?.next.get(unit) ?? this.#root;
  }

  /**
   * The first pattern in the text that `isMeant` accepts. `end` is the position in the text at which the pattern ends.
   */
  first(text: string, isMeant: (pattern: number, end: number) => boolean): number | undefined {
    let state = this.#root;
    for (let end = 1; end <= text.length; end += 1) {
      state = this.#step(state, text.charCodeAt(end - 1));
      if (state.found.length === 0) continue;
      const found = state.found.find((pattern) => isMeant(pattern, end));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
