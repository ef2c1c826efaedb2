import type { Siblings } from '../../src/platform/runtime/siblings.ts';

/** Set by `npm test -- --fleet`. */
const COUNT = Number(process.env['MODSTEAD_TEST_FLEET'] ?? 1);

export const IS_FLEET = COUNT > 1;

type Applier = (scope: string) => void;

/** Processes of one service that tell each other their changes, as a supervisor does; none without `--fleet`. */
export function siblingsInFleet(): Siblings[] {
  if (!IS_FLEET) return [];
  const appliers: Map<string, Applier>[] = Array.from({ length: COUNT }, () => new Map());
  const snapshots: (() => unknown)[] = [];
  return appliers.map((own) => ({
    count: COUNT,
    announce: async (topic, scopes) => {
      for (const other of appliers) if (other !== own) for (const scope of scopes) other.get(topic)?.(scope);
    },
    apply: (topic, changed) => void own.set(topic, changed),
    collect: async () => snapshots.map((snapshot) => snapshot()),
    reportWith: (snapshot) => void snapshots.push(snapshot),
  }));
}
