import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import * as store from './store.ts';
import { END_SUBSCRIPTIONS } from './subscriptions.ts';

export const modExtension = contribute(modExtensions, {
  name: 'subscriptions',
  // Subscriptions end for good, even if the mod is restored. There may be any number, so a job removes them in batches.
  onDelete: async (app, transaction, mod) => {
    if (!(await store.hasSubscribers(transaction, mod.id))) return;
    const payload = { modId: mod.id, gameId: mod.game_id, date: app.clock.now() };
    await app.jobs.enqueue(transaction, END_SUBSCRIPTIONS, payload);
  },
  // By then the job has run, because a mod with subscribers cannot be removed.
  onRemove: async (_, transaction, mod) => void (await store.removeOfMod(transaction, mod.id)),
});
