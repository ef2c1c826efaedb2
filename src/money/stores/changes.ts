import { z } from 'zod';
import { Id } from '../../platform/http/objects.ts';
import { STORE_FIELDS } from './settings.ts';
import { FAULTS } from './simulated.ts';

/** Receipts of Apple have a few dozen kilobytes. */
const Token = z.string().trim().min(1).max(131_072).optional();
const Environment = z.int().min(0).max(9_999).optional();

export const Game = {
  game_id: Id.optional().meta({ description: 'Required if neither the token nor the host name belongs to a game.' }),
};
/** Shipped clients send these fields under either name. */
export const PlayStation = {
  auth_code: Token.meta({ description: 'The same as `psn_token`.' }),
  env: Environment.meta({ description: 'The same as `psn_env`.' }),
  service_label: Environment.meta({ description: 'The same as `psn_service_label`.' }),
  psn_token: Token.meta({ description: 'An authorization code of PlayStation Network.' }),
  psn_env: Environment.meta({ description: '256 for players; other values for development, in the sandbox alone.' }),
  psn_service_label: Environment,
};
export const Receipt = { receipt: Token };
export const Meta = {
  device: z.enum(['quest', 'rift']).optional(),
  user_id: z
    .string()
    .regex(/^\d{1,20}$/)
    .optional(),
};
export const Xbox = { xbox_token: Token };
export const Epic = { epicgames_token: Token, epicgames_sandbox_id: z.string().trim().max(100).optional() };

export const EveryStore = z.object({ ...Game, ...PlayStation, ...Xbox, ...Epic, ...Receipt, ...Meta });
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
