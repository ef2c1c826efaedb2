import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Integer, page, pageOf, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { TermsChanges, TermsFields } from './fields.ts';
import { changeTerms, type DatedTerms, listTerms, showTerms } from './terms.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'] as const;

const SellingTermsObject = z
  .object({
    id: Integer.meta({ description: '0 for the defaults of the service.' }),
    changed_by: Integer.meta({ description: '0 for the operator and for defaults.' }),
    date_added: Timestamp,
    ...TermsFields.shape,
  })
  .meta({ id: 'SellingTerms' });

const toTerms = ({ terms, ...row }: DatedTerms): z.output<typeof SellingTermsObject> => ({ ...row, ...terms });

export const getGameSellingTerms = operation({
  id: 'get-game-selling-terms',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/terms',
  says: 'Shows the conditions under which a game sells: fees, shares, refunds, taxes. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(SellingTermsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params }) => toTerms(await showTerms(app, caller, params.game_id)),
});

export const editGameSellingTerms = operation({
  id: 'edit-game-selling-terms',
  tag: 'Monetization',
  method: 'PUT',
  path: '/games/{game_id}/monetization/terms',
  says: 'Changes the conditions for everything that is sold from now on; what was sold before keeps its own. For administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: TermsChanges,
  returns: ok(SellingTermsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => toTerms(await changeTerms(app, caller, params.game_id, body)),
});

export const getGameSellingTermsHistory = operation({
  id: 'get-game-selling-terms-history',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/terms/history',
  says: 'Lists all conditions under which a game has sold, the newest first. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(SellingTermsObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listTerms(app, caller, params.game_id, list);
    return page(rows.map(toTerms), total, list);
  },
});

export const termsOperations = [getGameSellingTerms, editGameSellingTerms, getGameSellingTermsHistory];
