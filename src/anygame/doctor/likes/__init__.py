"""What is compared among the rules of a sheet: what all of them do but one."""
