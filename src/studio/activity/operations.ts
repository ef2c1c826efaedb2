import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath } from '../../platform/http/objects.ts';
import { eventStream, operation, Stream } from '../../platform/http/operation.ts';
import { ACTIVITIES, type StaffState, watchActivity, watchInstallation } from './activity.ts';

async function* turnsText(activity: string, turns: AsyncIterable<number>): AsyncGenerator<string> {
  for await (const turn of turns) yield `event: ${activity}\ndata: ${JSON.stringify({ turn })}\n\n`;
}

async function* statesText(states: AsyncIterable<StaffState>): AsyncGenerator<string> {
  for await (const state of states) yield `event: installation\ndata: ${JSON.stringify(state)}\n\n`;
}

export const streamGameActivity = operation({
  id: 'stream-game-activity',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/activity/stream',
  says: 'Streams that cooks or deliveries of webhooks of a game have changed, as Server-Sent Events: now, and after changes, at most every two seconds. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: GamePath,
  query: z.object({ activity: z.enum(ACTIVITIES) }),
  returns: eventStream,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, query }) => {
    const turns = await watchActivity(app, caller, params.game_id, query.activity);
    return new Stream((signal) => turnsText(query.activity, turns(signal)));
  },
});

export const streamInstallation = operation({
  id: 'stream-installation',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/installation/stream',
  says: 'Streams how many games, reports and jobs wait, run or have failed, as Server-Sent Events: now, and when it changes. It counts up to 1,000 of each. For administrators of the site.',
  access: user('read', 'staff'),
  returns: eventStream,
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: (app, { caller }) => {
    const states = watchInstallation(app, caller);
    return new Stream((signal) => statesText(states(signal)));
  },
});

export const activityOperations = [streamGameActivity, streamInstallation];
