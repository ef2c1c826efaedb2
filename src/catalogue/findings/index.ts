import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { modExtension } from './mod-extension.ts';
import { findingOperations } from './operations.ts';

export const findings = resource({
  name: 'findings',
  operations: findingOperations,
  tables: {
    game_file_types: content(),
    modfile_findings: content({ refers: { modfile_id: 'modfiles' } }),
  },
  extends: [modExtension],
});
