import { resource } from '../../platform/manifest/resource.ts';
import { importsTables } from './migrations/2026-11-17-imports.ts';
import { importedVersions } from './migrations/2026-11-17-imports-versions.ts';
import { personalImports } from './personal.ts';

export const imports = resource({
  name: 'imports',
  migrations: [importsTables, importedVersions],
  personalData: personalImports,
});
