import { z } from 'zod';
import { Id } from '../../platform/http/objects.ts';
import { Epic, Meta, PlayStationOfClients, Receipt, Xbox } from './proof.ts';
import { STORE_FIELDS } from './settings.ts';
import { FAULTS } from './simulated.ts';

export const Game = {
  game_id: Id.optional().meta({ description: 'Required if neither the token nor the host name belongs to a game.' }),
};
export const EveryStore = z.object({ ...Game, ...PlayStationOfClients, ...Xbox, ...Epic, ...Receipt, ...Meta });
export type Sent = Partial<z.output<typeof EveryStore>>;

const Text = z.string().trim().max(10_000);
const Texts = z.array(z.string().trim().min(1).max(500)).max(20);

const storesWith = (name: string) =>
  Object.entries(STORE_FIELDS)
    .filter(([, fields]) => name in fields)
    .map(([portal]) => portal);
const fieldNames = [...new Set(Object.values(STORE_FIELDS).flatMap((fields) => Object.keys(fields)))].sort();
const isList = (name: string) =>
  Object.values(STORE_FIELDS).some((fields) => 'list' in ((fields as Record<string, object>)[name] ?? {}));

/** The fields of all stores together. A field of another store than the one in the path is refused. */
export const StoreSettingsBody = z.object(
  Object.fromEntries(
    fieldNames.map((name) => {
      const description = `For ${storesWith(name).join(', ')}. Empty: removes it.`;
      return [name, (isList(name) ? Texts : Text).optional().meta({ description })];
    }),
  ),
);

export const SimulatedOrderBody = z.object({
  sku: z.string().trim().min(1).max(100),
  quantity: z.int().min(1).max(1_000).default(1),
  pending: z.boolean().default(false).meta({ description: 'Whether the buyer has not paid yet.' }),
  fault: z.enum(FAULTS).default('none').meta({
    description:
      'What goes wrong once, when the purchase is consumed: `busy` (out of order), or `lost_answer` (consumed, but the answer is lost).',
  }),
});
