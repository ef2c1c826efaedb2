import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { changeWordlists, showWordlists, WORDS_MAX } from './wordlists.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const Words = z.array(z.string().trim().max(100)).max(WORDS_MAX);

const WordlistsObject = z
  .object({ allowed: z.array(z.string()), denied: z.array(z.string()), date_updated: Timestamp })
  .meta({ id: 'Wordlists' });

export const getGameWordlists = operation({
  id: 'get-game-wordlists',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/wordlists',
  says: 'Shows the words that a game allows or denies in addition to those of its `profanity_option`. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(WordlistsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params }) => showWordlists(app, caller, params.game_id),
});

export const editGameWordlists = operation({
  id: 'edit-game-wordlists',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}/wordlists',
  says: 'Replaces the words that a game allows or denies. Denied words are refused at every level, even where the filter is off. For managers of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ allowed: Words.optional(), denied: Words.optional() }),
  returns: ok(WordlistsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => changeWordlists(app, caller, params.game_id, body),
});

export const wordlistOperations = [getGameWordlists, editGameWordlists];
