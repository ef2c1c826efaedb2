import { z } from 'zod';
import { GamePath, Id, Integer, PathId, pageOf, Timestamp } from '../../platform/http/objects.ts';
import type { ListedPack, PackRow } from './packs.ts';

export const TokenPackPath = GamePath.extend({ token_pack_id: PathId });

export const GameTokenPackObject = z
  .object({
    id: Id.meta({ description: 'Of the pack in this portal.' }),
    token_pack_id: Id.meta({ description: 'Of the pack in all portals.' }),
    price: Integer.meta({ description: 'In the smallest unit of the currency.' }),
    currency: z.string().meta({ description: 'ISO 4217' }),
    amount: Integer.meta({ description: 'How many tokens the pack has.' }),
    portal: z.string().meta({ description: 'Empty for the service itself.' }),
    sku: z.string(),
    name: z.string(),
    description: z.string(),
    date_added: Timestamp,
    date_updated: Timestamp,
  })
  .meta({ id: 'GameTokenPack' });

/** A list, and beside it the fields of its first pack: the specification names a single object, clients read the list. */
export const GameTokenPacksObject = pageOf(GameTokenPackObject)
  .extend(GameTokenPackObject.partial().shape)
  .meta({ id: 'GameTokenPackPage' });

export const toGameTokenPack = (row: ListedPack): z.output<typeof GameTokenPackObject> => ({
  id: row.listing_id,
  token_pack_id: row.id,
  price: row.price,
  currency: row.currency,
  amount: row.tokens,
  portal: row.portal,
  sku: row.sku,
  name: row.name,
  description: row.description,
  date_added: row.date_added,
  date_updated: row.date_updated,
});

export const TokenPackObject = z
  .object({
    id: Id,
    game_id: Id,
    name: z.string(),
    description: z.string(),
    tokens: Integer,
    price: Integer,
    currency: z.string(),
    date_added: Timestamp,
    date_updated: Timestamp,
  })
  .meta({ id: 'TokenPack' });

export const toTokenPack = ({ date_removed: _, ...row }: PackRow): z.output<typeof TokenPackObject> => row;
