import { gameExtensions } from '../../catalogue/games/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, content, left } from '../../platform/manifest/treatment.ts';
import { serverTokenJobs } from './jobs.ts';
import { serverTokensTables } from './migrations/2026-11-17-server-tokens.ts';
import { serverTokenOperations } from './operations.ts';
import { revokeServerTokens } from './server-tokens.ts';

export const serverTokens = resource({
  name: 'server-tokens',
  operations: serverTokenOperations,
  migrations: [serverTokensTables],
  tables: {
    game_server_settings: content(),
    server_tokens: left(CREDENTIAL),
    server_token_mods: left(CREDENTIAL),
  },
  jobs: serverTokenJobs,
  extends: [contribute(gameExtensions, { name: 'server-tokens', onDelete: revokeServerTokens })],
});
