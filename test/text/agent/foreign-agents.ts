/** Agent files of other programs, as their users write them. */
export const FOREIGN_AGENTS: Record<string, string> = {
  '.claude/agents/code-reviewer.md': `---
name: code-reviewer
description: Reads changed code and says what is wrong with it. Use after each change.
tools: Read, Grep, Glob, Bash
model: inherit
color: blue
---

You review code.

\`\`\`bash
# System Prompt
git diff
\`\`\`
`,
  // a value with colons in it is not YAML, and very common
  '.claude/agents/Release Notes.md': `---
name: Release Notes
description: Use this agent when: a version is about to ship. Examples: <example>user: "ship it" assistant: "I ask release-notes"</example>
tools: [Read, Write, WebFetch, mcp__tracker__search, "Bash(git log:*)"]
model: sonnet
permissionMode: acceptEdits
---
You write release notes.
`,
  '.claude/agents/silent.md': `---
description: says nothing of tools
maxTurns: 7
disallowedTools: Grep
---
You look around.
`,
  // examples in the description, over lines that are not indented
  '.claude/agents/studio/growth.md': `---
name: growth
description: Use this agent when numbers must grow. Examples:

<example>
Context: a launch
user: "We need users"
assistant: "I ask growth"
<commentary>
It knows channels: mail, search.
</commentary>
</example>
color: green
tools: Write, Grep
---

You grow things.
`,
  '.claude/agents/lead.md': `---
name: lead
description: Leads
tools: WebSearch, SendMessage, TaskCreate, TaskList, AskUserQuestion, Skill, mcp__linear
permissionMode: plan
effort: max
skills: [pdf, release]
model: Opus[1m]
---
You lead. Use \${{ secrets.TOKEN }}, {{ user }} and {{tone}}.
`,
  '.github/agents/margin.agent.md': `---
description: 'Reads'
tools: [
  'read',
  'github/*',
]
---
You read.
`,
  '.opencode/agent/review.md': `---
description: Reviews
mode: subagent
tools:
  write: false
  edit: false
permission:
  webfetch: deny
  bash:
    'git push': deny
    '*': allow
---
You review.
`,
  '.github/agents/tester.agent.md': `---
description: 'Writes tests'
tools: ['codebase', 'editFiles', 'runCommands', 'fetch', 'github/create_issue']
model: Claude Sonnet 4
handoffs:
  - label: Review
    agent: reviewer
    prompt: Look at it
---
You write tests.
`,
  'docs/plan.chatmode.md': `---
description: Plans
tools: ['*']
---
You plan.
`,
  'desk.ai': `#!/usr/bin/env ai-agent
---
description: Front desk
models:
  - openai/gpt-5
  - anthropic/claude-sonnet-4-5
maxTurns: 12
maxOutputTokens: 8192
topP: 0.9
temperature: 0.3
reasoning: default
llmTimeout: 5m
tools: [read_file, brave]
advisors: ./agents/legal.ai
router:
  destinations: [agents/billing.ai, ./support.ai]
output:
  format: markdown
frobnicate: yes
---
You choose who answers.
`,
  'templates/planner-001.agent.yaml': `agent_id: planner-001
agent_type: planner
model: claude-sonnet-4.5
system_prompt: |
  You are a task planning agent.

  # Not a heading of ours
tools:
  - create_task
  - read_file
metadata:
  description: Breaks down goals
  version: '0.0.1'
  owner: somebody
`,
  'agents/runner.agent.yaml': `id: runner
type: executor
capabilities: [execute_command, shell]
system_prompt: You run things.
metadata: {}
`,
  'agents/watcher.agent.yaml': `apiVersion: daemon/v1
kind: Agent
metadata:
  name: watcher
  description: Watches
  model: copilot:gpt-5
  tools: [read_file]
  labels: [subagent]
spec:
  system_prompt: |
    You watch.
  handoff: planner-001
  messages: []
`,
};
