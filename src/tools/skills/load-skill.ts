/** Returns the instructions of a skill. Its scripts run like every command, through the policy. */
import { nearestHint } from '../../domain/nearest.js';
import { defineTool, text, toolProblem } from '../core/define-tool.js';

export const loadSkill = defineTool({
  name: 'load_skill',
  kind: 'pure',
  description: 'Returns the instructions of a skill. Load it before you do the work that its description names.',
  args: { name: text('The name of the skill') },
  run({ name }, { project }) {
    const loaded = project.skill(name);
    if (loaded === undefined) {
      const names = project.skills().map((skill) => skill.name);
      const hint = nearestHint(name, names, `the skills are: ${names.join(', ') || 'none'}`);
      return toolProblem('not_found', `there is no skill ${name}; ${hint}`);
    }
    const { skill, body, files } = loaded;
    const head = [
      `Skill ${skill.name}, from ${skill.folder}/SKILL.md. Paths in it are relative to ${skill.folder}/.`,
      ...(files.length > 0
        ? [`Its other files, for read_file or execute_command, relative to the workspace: ${files.join(', ')}`]
        : []),
    ];
    return { kind: 'text', text: `${head.join('\n')}\n\n${body}` };
  },
});
