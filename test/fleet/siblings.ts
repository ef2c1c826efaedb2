import type { Siblings } from '../../src/platform/runtime/siblings.ts';

/** The number of processes that take turns; set by `npm test -- --fleet`. */
export const PROCESSES = Number(process.env['MODSTEAD_TEST_FLEET'] ?? 1);

export const IS_FLEET = PROCESSES > 1;

type Applier = (scope: string) => void;

/** Processes of one service that tell each other their changes, as a supervisor does; none without `--fleet`. */
export function siblingsInFleet(): Siblings[] {
  if (!IS_FLEET) return [];
  const appliers: Map<string, Applier>[] = Array.from({ length: PROCESSES }, () => new Map());
  const snapshots: (() => unknown)[] = [];
  return appliers.map((own) => ({
    count: PROCESSES,
    announce: async (topic, scopes) => {
      for (const other of appliers) if (other !== own) for (const scope of scopes) other.get(topic)?.(scope);
    },
    apply: (topic, changed) => void own.set(topic, changed),
    collect: async () => snapshots.map((snapshot) => snapshot()),
    reportWith: (snapshot) => void snapshots.push(snapshot),
  }));
}
