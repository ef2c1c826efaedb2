import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { modExtension } from './mod-extension.ts';
import { dependencyOperations } from './operations.ts';

export const dependencies = resource({
  name: 'dependencies',
  operations: dependencyOperations,
  tables: {
    mod_dependencies: content({ partOf: 'mods' }),
  },
  extends: [modExtension],
});
