#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { importPinned } from './pinned.mjs';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
await importPinned(main, fileURLToPath(import.meta.url), process.argv.slice(2));
