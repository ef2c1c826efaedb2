// Runs alone: it needs hundreds of megabytes of memory.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { largeRules, startOn } from './cooking-storage.ts';

// Runs once, because storage does not depend on the database; cooking-storage.test.ts runs on both.
const api = await startOn();
const parts = join(api.folder, 'production', 'files', '.parts');
largeRules('local disk', { api, leftovers: async () => readdirSync(parts).length });
