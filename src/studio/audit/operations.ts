import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, page, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { auditListing, type ListedAudit, listAudit, listAuditOfGame } from './audit.ts';

const AuditObject = z
  .object({
    id: Id,
    date_added: Timestamp,
    game_id: Integer.meta({ description: '0 for the site as a whole' }),
    user_id: Integer.meta({ description: 'The actor; 0 for the service itself' }),
    username: z.string().nullable(),
    action: z.string(),
    resource: z.string(),
    resource_id: Integer,
    reason: z.string(),
    data: z.record(z.string(), z.unknown()),
    previous: z.string().meta({ description: 'The hash of the previous row' }),
    hash: z.string(),
  })
  .meta({ id: 'AuditEntry' });

const toAudit = ({ data, ...row }: ListedAudit): z.input<typeof AuditObject> => ({ ...row, data: JSON.parse(data) });

export const getAudit = operation({
  id: 'get-audit',
  tag: 'Moderation',
  method: 'GET',
  path: '/audit',
  says: 'Lists the audit log: the actions of staff and of the teams of games. Staff only.',
  access: user('read', 'staff'),
  list: auditListing,
  returns: ok(pageOf(AuditObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listAudit(app, caller, list);
    return page(rows.map(toAudit), total, list);
  },
});

export const getGameAudit = operation({
  id: 'get-game-audit',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/audit',
  says: 'Lists the audit log of a game. Its team only.',
  access: user('read', 'team'),
  params: GamePath,
  list: auditListing,
  returns: ok(pageOf(AuditObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listAuditOfGame(app, caller, params.game_id, list);
    return page(rows.map(toAudit), total, list);
  },
});

export const auditOperations = [getAudit, getGameAudit];
