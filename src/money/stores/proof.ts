import { z } from 'zod';
import type { Platform, Portal } from '../../platform/vocabulary/game-platforms.ts';
import { type Proof, STORE_PORTALS, type StorePortal } from './adapter.ts';

/** Receipts of Apple have a few dozen kilobytes. */
const Token = z.string().trim().min(1).max(131_072).optional();
const Environment = z.int().min(0).max(9_999).optional();

export const PlayStation = {
  psn_token: Token.meta({ description: 'An authorization code of PlayStation Network.' }),
  psn_env: Environment.meta({ description: '256 for players; other values for development, in the sandbox alone.' }),
  psn_service_label: Environment,
};
/** Shipped clients send these fields under either name. */
export const PlayStationOfClients = {
  auth_code: Token.meta({ description: 'The same as `psn_token`.' }),
  env: Environment.meta({ description: 'The same as `psn_env`.' }),
  service_label: Environment.meta({ description: 'The same as `psn_service_label`.' }),
  ...PlayStation,
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

const EveryProof = z.object({ ...PlayStationOfClients, ...Xbox, ...Epic, ...Receipt, ...Meta });
export type SentProof = Partial<z.output<typeof EveryProof>>;

/** What a client sent about its account at a store, under one name each. */
export function proofOf({ auth_code, env, service_label, ...sent }: SentProof): Proof {
  const { psn_token = auth_code, psn_env = env, psn_service_label = service_label } = sent;
  const { xbox_token, epicgames_token, epicgames_sandbox_id, receipt, user_id } = sent;
  const ofPlayStation = { psn_token, psn_env, psn_service_label };
  const fields = { ...ofPlayStation, xbox_token, epicgames_token, epicgames_sandbox_id, receipt, user_id };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, `${value}`]));
}

/** The store of a request. Meta's headsets have no name among the portals of requests, but one among the platforms. */
export const storeOf = (portal: Portal | undefined, platform: Platform | undefined): StorePortal | undefined =>
  STORE_PORTALS.find((store) => store === portal) ??
  (portal === undefined && platform === 'oculus' ? 'oculus' : undefined);
