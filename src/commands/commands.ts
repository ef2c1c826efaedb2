import type { Command } from './invocation/command.ts';

/** Each command is imported only when it runs, so that no command loads the modules of another. */
export const COMMANDS: Record<string, () => Promise<{ default: Command }>> = {
  serve: () => import('./serve.ts'),
  work: () => import('./work.ts'),
  migrate: () => import('./migrate.ts'),
  'user add': () => import('./user-add.ts'),
  'user unguard': () => import('./user-unguard.ts'),
  'game add': () => import('./game-add.ts'),
  'game set': () => import('./game-set.ts'),
  'token add': () => import('./token-add.ts'),
  'client add': () => import('./client-add.ts'),
  'pack add': () => import('./pack-add.ts'),
  'plan set': () => import('./plan-set.ts'),
  'plan assign': () => import('./plan-assign.ts'),
  'portal set': () => import('./portal-set.ts'),
  'staff list': () => import('./staff-list.ts'),
  'staff set': () => import('./staff-set.ts'),
  'staff remove': () => import('./staff-remove.ts'),
  'ban add': () => import('./ban-add.ts'),
  'ban list': () => import('./ban-list.ts'),
  'ban lift': () => import('./ban-lift.ts'),
  scan: () => import('./scan.ts'),
  'cook-runner': () => import('./cook-runner.ts'),
  'demo fill': () => import('./demo-fill.ts'),
  demo: () => import('./demo.ts'),
  'storage check': () => import('./storage-check.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  'audit verify': () => import('./audit-verify.ts'),
  'ledger verify': () => import('./ledger-verify.ts'),
  'ledger statement': () => import('./ledger-statement.ts'),
  'ledger export': () => import('./ledger-export.ts'),
  'ledger reconcile': () => import('./ledger-reconcile.ts'),
  publish: () => import('./publish.ts'),
  doctor: () => import('./doctor.ts'),
};

/** Imports every command, in the order in which the help lists them. */
export const loadCommands = (): Promise<Command[]> =>
  Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).default));
