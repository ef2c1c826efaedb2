import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startApi } from './api.ts';
import { largeRules } from './cooking-storage.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, filesOnDisk: true });
const parts = join(api.folder, 'production', 'files', '.parts');
largeRules('local disk', { api, partBytes: 1024 ** 2, leftovers: async () => readdirSync(parts).length });
