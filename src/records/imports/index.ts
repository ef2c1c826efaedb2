import { resource } from '../../platform/manifest/resource.ts';
import { left, OWN } from '../../platform/manifest/treatment.ts';
import { importsTables } from './migrations/2026-11-17-imports.ts';
import { importedVersions } from './migrations/2026-11-17-imports-versions.ts';
import { personalImports } from './personal.ts';

export const imports = resource({
  name: 'imports',
  migrations: [importsTables, importedVersions],
  tables: {
    imports: left(OWN),
    import_parts: left(OWN),
    import_refusals: left(OWN),
    import_removals: left(OWN),
    imported_ids: left(OWN),
  },
  personalData: personalImports,
});
