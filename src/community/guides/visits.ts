import type { App } from '../../platform/app.ts';
import { guidesScope } from './guides.ts';
import * as store from './store.ts';

const HOUR = 3_600;
const DAY_HOURS = 24;
const GUIDES_AT_ONCE = 100;

/** Counts the visitors of a guide, each address once a day. The guide is shown even if counting fails. */
export async function countVisit(app: App, guide: { id: number; game_id: number }, address: string): Promise<void> {
  const hour = Math.floor(app.clock.now() / HOUR);
  const visitor = app.secrets.digest(`visit ${guide.id} ${Math.floor(hour / DAY_HOURS)} ${address}`);
  if (await store.isVisitor(app.db, guide.id, visitor)) return;
  try {
    await app.db.write(async (transaction) => {
      if (await store.addVisit(transaction, guide.id, visitor, hour)) transaction.changed(guidesScope(guide.game_id));
    });
  } catch (error) {
    app.log.warn('a visit to a guide could not be counted', { guide: guide.id, error });
  }
}

/** “Today” is the current hour and the last 24 whole hours. */
export async function removeOldVisits(app: App, heartbeat: () => Promise<void> = async () => {}): Promise<void> {
  const before = Math.floor(app.clock.now() / HOUR) - DAY_HOURS;
  const next = () => store.guidesVisitedBefore(app.db, before, GUIDES_AT_ONCE);
  for (let guides = await next(); guides.length > 0; guides = await next()) {
    await heartbeat();
    for (const { id, game_id } of guides)
      await app.db.write(async (transaction) => {
        await store.forgetVisits(transaction, id, before);
        transaction.changed(guidesScope(game_id));
      });
  }
}
