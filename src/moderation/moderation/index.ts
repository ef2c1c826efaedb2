import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { left, rebuilt, SHORT_LIVED, service } from '../../platform/manifest/treatment.ts';
import { reportExtensions } from '../reports/extensions.ts';
import { takeDownIfReported } from './decisions.ts';
import { moderationClaims } from './migrations/2026-11-17-moderation-claims.ts';
import { moderationCounts } from './migrations/2026-11-17-moderation-counts.ts';
import { moderationDays } from './migrations/2026-11-18-moderation-days.ts';
import { moderationOperations } from './operations.ts';
import { personalDecisions } from './personal.ts';
import { removeSnapshots } from './snapshot-store.ts';

export const moderation = resource({
  name: 'moderation',
  operations: moderationOperations,
  personalData: personalDecisions,
  migrations: [moderationClaims, moderationCounts, moderationDays],
  tables: {
    moderation_decisions: service(),
    moderation_snapshots: service(),
    moderation_claims: left(SHORT_LIVED),
    moderation_days: rebuilt('triggers of the table moderation_decisions'),
  },
  extends: [
    contribute(reportExtensions, { onReport: takeDownIfReported }),
    contribute(modExtensions, {
      name: 'moderation',
      onRemove: async (_, transaction, mod) => void (await removeSnapshots(transaction, 'mods', mod.id)),
    }),
  ],
});
