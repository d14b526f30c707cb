/** The two boards that the format was first described with. */
export const APPROVALS = `## TODO

- [_] A @human #approval \`Approve command: docker ps\`
  id: approval-1759622866331-8228eefd
  approval_type: terminal_command
  agent: executor-001
  requesting_agent_session_id: executor-001-a37c0963
  created: 2025-10-05T00:07:46.331Z
  status: pending
  description: |
    Details:
      Command: docker ps
`;
export const REDIS = `## TODO

- [x] A @planner-001 #redis "Plan Redis check workflow"
  id: task-001
  created: 2025-10-04T10:00:00Z
  completed: 2025-10-04T10:05:00Z
  
  - [ ] B @retriever-001 #system "Detect container runtime"
    id: task-002
    parent: task-001
    assigned: 2025-10-04T10:05:00Z
    
  - [ ] C @executor-001 #docker "Check Redis container status"
    id: task-003
    parent: task-001
    depends_on: task-002
    approval_required: true

- [ ] A @evaluator-001 "Validate Redis check result"
  id: task-004
  depends_on: task-003
`;

/**
 * Prose, comments, unusual spacing and a block that looks like a section. All must survive edits.
 */
export const MESSY = `# Plan

Some words before.

## TODO

<!-- keep me -->
- [ ] A   @ana  "First"   id: one   due: 2025-01-01
  note: "quoted"   
  text: |
    ## not a heading
    - [x] not an item

    end
  A paragraph of its own.

  - [/] second, bare
\t- [x] "third, by tab"
prose in between

* a star is prose
-   #b  \`fourth\`
  id: four

## Notes
- not a task @here

\`\`\`
- [x] "code"
\`\`\`
the end, without newline`;
