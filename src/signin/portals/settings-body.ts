import { z } from 'zod';
import { PORTAL_FIELDS } from './settings.ts';

const Text = z.string().trim().max(10_000);
const Texts = z.array(z.string().trim().min(1).max(500)).max(20);

const portalsWith = (name: string) =>
  Object.entries(PORTAL_FIELDS)
    .filter(([, fields]) => name in fields)
    .map(([portal]) => portal);

const fieldNames = [...new Set(Object.values(PORTAL_FIELDS).flatMap((fields) => Object.keys(fields)))].sort();
const isList = (name: string) =>
  Object.values(PORTAL_FIELDS).some((fields) => 'list' in ((fields as Record<string, object>)[name] ?? {}));

/** The fields of all portals together. A field of another portal than the one in the path is refused. */
export const PortalSettingsBody = z.object(
  Object.fromEntries(
    fieldNames.map((name) => {
      const description = `For ${portalsWith(name).join(', ')}. Empty: removes it.`;
      return [name, (isList(name) ? Texts : Text).optional().meta({ description })];
    }),
  ),
);
