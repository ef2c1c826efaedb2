import type { App } from '../../platform/app.ts';
import { takenAtOnce } from '../../platform/database/bulk.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lockExisting, takeAdvisoryLock } from '../../platform/database/locks.ts';
import type { Done } from '../../platform/jobs/worker.ts';
import { dayOf, placesOf, spansOf } from './counting.ts';
import * as store from './store.ts';

/** Adds the counts and the activity of the last seconds to the metrics. A lock makes workers take turns. */
export async function foldMetrics(app: App): Promise<Done> {
  if (!(await store.hasChanges(app.db))) return {};
  const most = takenAtOnce(app.db);
  let rows = 0;
  for (let taken = most; taken === most; rows += taken)
    taken = await app.db.write(async (transaction) => {
      await takeAdvisoryLock(transaction, 'metrics_changes');
      const changes = await store.takeChanges(transaction, most);
      const sums = sumsOf(changes);
      await addToMods(transaction, sums);
      await addCounts(transaction, sums);
      await addActivity(transaction, changes);
      return changes.length;
    });
  return { rows };
}

const SUMMED = [...store.MOD_COUNTS, 'sessions', 'session_seconds'] as const;
type Place = Pick<store.ChangeRow, 'game_id' | 'mod_id' | 'platform'>;
type Sum = Place & ReturnType<typeof spansOf> & Record<(typeof SUMMED)[number], number>;

/** The sums by mod, platform and day. */
function sumsOf(changes: readonly store.ChangeRow[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const change of changes) {
    const { game_id, mod_id, platform } = change;
    const key = `${game_id} ${mod_id} ${dayOf(change.date_added)} ${platform}`;
    const sum = sums.get(key) ?? { game_id, mod_id, platform, ...spansOf(change.date_added), ...NO_SUM };
    for (const name of SUMMED) sum[name] += change[name];
    sums.set(key, sum);
  }
  return [...sums.values()];
}

const NO_SUM = Object.fromEntries(SUMMED.map((name) => [name, 0])) as Record<(typeof SUMMED)[number], number>;

const placesIn = ({ game_id, platform }: Omit<Place, 'mod_id'>) => placesOf(game_id, platform || undefined);

/** Also creates the rows of days and months in which somebody was only active. */
async function addCounts(transaction: Transaction, sums: readonly Sum[]): Promise<void> {
  const totals = new Map<string, { place: store.Place; spans: ReturnType<typeof spansOf>; counts: store.Counts }>();
  for (const sum of sums)
    for (const place of placesIn(sum)) {
      const { day, month } = sum;
      const key = `${place.gameId} ${day} ${place.platform}`;
      const total = totals.get(key) ?? { place, spans: { day, month }, counts: { ...NO_COUNTS } };
      for (const name of SUMMED) total.counts[name] += sum[name];
      totals.set(key, total);
    }
  for (const { place, spans, counts } of totals.values()) await store.addTo(transaction, place, spans, counts);
}

const NO_COUNTS = Object.fromEntries(store.COUNTS.map((name) => [name, 0])) as store.Counts;

/** Adds to the days of mods, and to the months that they and their submitters are ranked by. */
async function addToMods(transaction: Transaction, sums: readonly Sum[]): Promise<void> {
  const counted = sums.filter((sum) => store.MOD_COUNTS.some((name) => sum[name] !== 0));
  if (counted.length === 0) return;
  // A mod that is removed takes its metrics with it.
  const existing = await lockExisting(transaction, 'mods', [...new Set(counted.map(({ mod_id }) => mod_id))]);
  const all = counted.filter(({ mod_id }) => existing.has(mod_id));
  await store.addToModDays(transaction, all.flatMap(modDaysOf));
  const ofMods = all.filter(({ downloads, subscribers }) => downloads !== 0 || subscribers !== 0);
  await store.addToMonths(transaction, ofMods, true);
  const onPlatforms = ofMods.filter(({ platform }) => platform !== '');
  await store.addToMonths(transaction, onPlatforms, false);
}

/** All platforms together, and the one that is known. */
const modDaysOf = ({ mod_id, platform, day, ...sum }: Sum): store.ModDay[] =>
  [...new Set(['', platform])].map((each) => {
    const { downloads, subscribers, ratings_positive, ratings_negative } = sum;
    return { mod_id, platform: each, day, downloads, subscribers, ratings_positive, ratings_negative };
  });

interface Active {
  readonly person: string | undefined;
  readonly address: string | undefined;
}

async function addActivity(transaction: Transaction, changes: readonly store.ChangeRow[]): Promise<void> {
  const spans = new Map<string, { span: store.Span; active: Map<string, Active> }>();
  const note = (span: store.Span, person: string, address: string) => {
    if (person === '' && address === '') return;
    const key = JSON.stringify(span);
    const known = spans.get(key) ?? { span, active: new Map() };
    known.active.set(`${person} ${address}`, { person: person || undefined, address: address || undefined });
    spans.set(key, known);
  };
  for (const change of changes)
    for (const place of placesIn(change)) {
      const { day, month } = spansOf(change.date_added);
      note({ ...place, span: 'day', number: day }, change.who, change.address_of_day);
      note({ ...place, span: 'month', number: month }, change.who, change.address_of_month);
    }
  for (const { span, active } of spans.values()) await addToSpan(transaction, span, [...active.values()]);
}

async function addToSpan(transaction: Transaction, span: store.Span, active: readonly Active[]): Promise<void> {
  const people = namesOf(active.map(({ person }) => person));
  const ofPeople = namesOf(active.map(({ person, address }) => person && address));
  const ofNobody = namesOf(active.map(({ address }) => address)).difference(ofPeople);
  const known = await store.activitiesOf(transaction, span, [...people, ...ofPeople, ...ofNobody]);
  const unknown = (names: Iterable<string>, counted: number) =>
    [...names].filter((who) => !known.has(who)).map((who) => ({ who, counted }));
  const added = await store.addActivities(transaction, span, [
    ...unknown(people, 1),
    ...unknown(ofPeople, 0),
    ...unknown(ofNobody, 1),
  ]);
  let difference = added.filter(({ counted }) => counted === 1).length;
  // An address stops counting once a signed-in user acts from it.
  for (const address of ofPeople)
    if (known.get(address) === 1 && (await store.stopCounting(transaction, span, address))) difference -= 1;
  if (difference !== 0) await store.addActive(transaction, span, difference);
}

const namesOf = (names: readonly (string | undefined)[]) => new Set(names.filter((who) => who !== undefined));
