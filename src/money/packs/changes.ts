import { z } from 'zod';
import { LINKED_PORTALS } from '../../platform/vocabulary/game-platforms.ts';

const fields = {
  name: z.string().trim().min(1).max(80),
  description: z.string().trim().max(500),
  tokens: z.int().min(1).max(1_000_000_000),
  price: z.int().min(1).max(1_000_000_000).meta({ description: 'In the smallest unit of the currency.' }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .meta({ description: 'ISO 4217. Without it, the currency of the game’s terms.' }),
  skus: z
    .array(z.string().regex(new RegExp(`^(?:${LINKED_PORTALS.join('|')})=[\\x21-\\x7e]{1,100}$`)))
    .max(LINKED_PORTALS.length)
    .meta({ description: 'What the pack is called in stores, as `portal=SKU`.' }),
};
const { name, tokens, price } = fields;

export const NewPackBody = z.object({
  name,
  description: fields.description.default(''),
  tokens,
  price,
  currency: fields.currency.optional(),
  skus: fields.skus.default([]),
});

export const PackChangesBody = z.object(fields).partial();
