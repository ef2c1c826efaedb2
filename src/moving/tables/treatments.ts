import { tableTreatments } from '../../composition/resources.ts';
import type { Treatment } from '../../platform/manifest/treatment.ts';

/** What an archive does with each table, by its name, as the manifests say. */
export const TREATMENTS: ReadonlyMap<string, Treatment> = new Map(
  tableTreatments.toSorted(([one], [other]) => (one < other ? -1 : 1)),
);

export const treatmentOf = (table: string): Treatment | undefined => TREATMENTS.get(table);
